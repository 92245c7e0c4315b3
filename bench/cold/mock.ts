import { writeFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import forge from "node-forge";

const pet = { id: { N: "1" }, name: { S: "Rex" }, categoryId: { N: "1" }, status: { S: "available" } };
const apiKey = { keyId: { S: "key_bench" }, name: { S: "bench" }, scopes: { SS: ["pets:read"] } };

const answers: Record<string, (input: { TableName?: string }) => unknown> = {
  GetItem: ({ TableName }) => ({ Item: TableName === "Keys" ? { ...apiKey, createdAt: { N: "0" } } : pet }),
  Query: () => ({ Items: [pet], Count: 1, ScannedCount: 1 }),
  PutItem: () => ({}),
};

/** A new RSA key and a certificate for an IP address that is valid for a year, both as PEM. */
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
 * Starts a server that answers as DynamoDB does, at once and always the same, over TLS with a certificate that
 * is made for this run.
 *
 * @param folder where the certificate is written, for clients to trust
 * @returns what its clients need in their environment
 */
export async function startMock(folder: string) {
  const { key, cert } = selfSigned("127.0.0.1");
  const certificate = join(folder, "certificate.pem");
  await writeFile(certificate, cert);
  const server = createServer({ key, cert }, (request, response) => {
    let text = "";
    request.on("data", (chunk) => (text += chunk));
    request.on("end", () => {
      const operation = String(request.headers["x-amz-target"]).split(".")[1] ?? "";
      const answer = JSON.stringify(answers[operation]?.(JSON.parse(text)) ?? {});
      response
        .writeHead(200, { "content-type": "application/x-amz-json-1.0", "content-length": answer.length })
        .end(answer);
    });
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
