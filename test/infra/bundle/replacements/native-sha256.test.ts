import { expect, it } from "@jest/globals";
import { Sha256 } from "../../../../infra/bundle/replacements/native-sha256.ts";

const hex = async (hash: Sha256) => Buffer.from(await hash.digest()).toString("hex");

it("hashes as FIPS 180-4 says", async () => {
  const hash = new Sha256();
  hash.update("a");
  hash.update(Buffer.from("bc"));
  expect(await hex(hash)).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});

it("authenticates as RFC 4231, test case 2, says, with a text or binary secret", async () => {
  for (const secret of ["Jefe", new Uint8Array(Buffer.from("Jefe"))]) {
    const hash = new Sha256(secret);
    hash.update("what do ya want for nothing?");
    expect(await hex(hash)).toBe("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  }
});
