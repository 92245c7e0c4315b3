import { writeFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import forge from "node-forge";

const pet = { id: { N: "1" }, name: { S: "Rex" }, categoryId: { N: "1" }, status: { S: "available" } };
const apiKey = {
  hash: { S: "bench" },
  keyId: { S: "key_bench" },
  name: { S: "bench" },
  scopes: { SS: ["pets:read"] },
  createdAt: { N: "0" },
};

/** A response for each DynamoDB operation. */
const responses: Record<string, (input: { TableName?: string }) => unknown> = {
  GetItem: ({ TableName }) => ({ Item: TableName === "Keys" ? apiKey : pet }),
  Query: () => ({ Items: [pet], Count: 1, ScannedCount: 1 }),
  PutItem: () => ({}),
};

/** A new RSA key and a certificate for the address, valid for a year, both as PEM. */
function selfSigned(ip: string) {
  const { privateKey, publicKey } = forge.pki.rsa.generateKeyPair(2048);
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = publicKey;
  certificate.setSubject([{ name: "commonName", value: ip }]);
  certificate.setIssuer(certificate.subject.attributes);
  certificate.validity.notAfter.setFullYear(certificate.validity.notBefore.getFullYear() + 1);
  certificate.setExtensions([{ name: "subjectAltName", altNames: [{ type: 7, ip }] }]);
  certificate.sign(privateKey, forge.md.sha256.create());
  return { key: forge.pki.privateKeyToPem(privateKey), cert: forge.pki.certificateToPem(certificate) };
}

/**
 * Starts an HTTPS server on 127.0.0.1 that sends DynamoDB's responses immediately, always the same ones.
 *
 * @param folder where to write the certificate that clients must trust
 * @returns the environment variables of a client
 */
export async function startMock(folder: string) {
  const { key, cert } = selfSigned("127.0.0.1");
  const certificate = join(folder, "certificate.pem");
  await writeFile(certificate, cert);
  const server = createServer({ key, cert }, async (request, response) => {
    const input = JSON.parse(await text(request));
    const [, operation = ""] = String(request.headers["x-amz-target"]).split(".");
    const body = JSON.stringify(responses[operation]?.(input) ?? {});
    const headers = { "content-type": "application/x-amz-json-1.0", "content-length": body.length };
    response.writeHead(200, headers).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    environment: {
      AWS_ENDPOINT_URL_DYNAMODB: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
      NODE_EXTRA_CA_CERTS: certificate,
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
