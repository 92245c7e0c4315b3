import { afterEach, expect, it } from "@jest/globals";
import { readRequest } from "../../../lib/http/request.ts";
import { createPet, getPet, listPets } from "../../../lib/operations.ts";
import { requestEvent } from "../../support/event.ts";

const poison = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty"];

const members = Reflect.ownKeys(Object.prototype);
afterEach(() => {
  expect(Reflect.ownKeys(Object.prototype)).toEqual(members);
});

it.each(poison)("a body's member %s reaches no prototype", (name) => {
  const value = '{"polluted":1,"status":"sold","prototype":{"polluted":1}}';
  const body = `{"name":"Rex","categoryId":1,"${name}":${value}}`;
  const pet = readRequest(createPet, requestEvent({ body })).body;
  expect(pet).toEqual({ name: "Rex", categoryId: 1n, status: "available" });
  expect(Object.getPrototypeOf(pet)).toBe(Object.prototype);
});

it.each(poison)("a body's member %s does not replace the body", (name) => {
  const body = `{"${name}":{"name":"Rex","categoryId":1}}`;
  expect(() => readRequest(createPet, requestEvent({ body }))).toThrow("name is required");
});

it.each(poison)("a query's or a path's %s reaches no prototype", (name) => {
  const query = JSON.parse(`{"${name}":["1"],"limit":["5"]}`);
  expect(readRequest(listPets, requestEvent({ query })).query).toEqual({ limit: 5 });
  const path = JSON.parse(`{"${name}":"1","petId":"5"}`);
  expect(readRequest(getPet, requestEvent({ path })).params).toEqual({ petId: 5n });
});

it("a header reaches no prototype", () => {
  const headers = JSON.parse('{"__proto__":"application/json","Content-Type":"application/json"}');
  const body = '{"name":"Rex","categoryId":1}';
  expect(readRequest(createPet, requestEvent({ body, headers })).body.name).toBe("Rex");
});
