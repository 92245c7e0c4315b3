// Handlers that fail in ways that the code of this project prevents.
export const thrown = () => Promise.reject(new Error("thrown"));
export const exit = () => process.exit(1);
export const rejected = () => {
  void Promise.reject(new Error("unhandled"));
  return new Promise((resolve) => setTimeout(resolve, 60_000));
};
