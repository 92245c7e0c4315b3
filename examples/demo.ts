import { petStore } from "./client.ts";

// Adds three animals and lists all. Run it with
//   BASE_URL=http://127.0.0.1:3000/v1 API_KEY=ask_local_... sh local/node.sh examples/demo.ts
// Node 22.18 or later, Deno and Bun run it as it is.

async function demo({ BASE_URL: baseUrl, API_KEY: apiKey }: Record<string, string | undefined>) {
  if (!baseUrl || !apiKey) throw new Error("Set BASE_URL and API_KEY to what `npm start` prints.");
  // The client retries for a minute, because a running service can lose a connection. Find out now if none is running.
  const headers = { Authorization: `Bearer ${apiKey}` };
  await fetch(`${baseUrl}/pets?limit=1`, { headers }).catch(() => {
    throw new Error(`There is no service at ${baseUrl}. Start it with \`npm start\`, or check BASE_URL.`);
  });

  const store = petStore({ baseUrl, apiKey });
  for (const name of ["Rex", "Tom", "Polly"]) {
    const pet = await store.add({ name, categoryId: 1n });
    console.log(`Added ${pet.name} as ${pet.id}.`);
  }
  for await (const { id, name, status } of store.list()) console.log(`${id} ${name} (${status})`);
}

function fail({ message }: Error): never {
  console.error(`demo: ${message}`);
  process.exit(1);
}

process.stdout.on("error", fail); // `head -n 1`, for example, reads only a part
await demo(process.env).catch(fail);
