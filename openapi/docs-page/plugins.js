// Plugins of Swagger UI, for what it has no setting. See its documentation on wrapActions and wrapComponents.

/**
 * When a request is not sent because a value is invalid, removes the last response and shows a message. Swagger UI only
 * marks the value, and the last response looks like a new one.
 */
window.clearStaleResponse = ({ React }) => ({
  statePlugins: {
    spec: {
      wrapActions: {
        validateParams: (validate, system) => (operation) => {
          system.specActions.clearResponse(...operation);
          return validate(operation);
        },
      },
    },
  },
  wrapComponents: {
    execute: (Execute) => (props) => {
      const operation = [props.path, props.method];
      const emptyBody = props.oas3Selectors.requestBodyErrors(...operation)?.size > 0;
      const valid = props.specSelectors.validateBeforeExecute(operation) && !emptyBody;
      const note = valid ? "" : "Nothing was sent: correct the marked values.";
      return React.createElement(
        React.Fragment,
        null,
        React.createElement(Execute, props),
        React.createElement("p", { role: "alert", className: "not-sent" }, note),
      );
    },
  },
});

/** Accepts a pasted API key, with or without the scheme, and rejects any other text. Swagger UI accepts every text. */
window.checkKeys = () => ({
  statePlugins: {
    auth: {
      wrapActions: {
        authorize: (authorize, system) => (payload) => {
          system.errActions.clear({ authId: "apiKey" });
          const { schema, value } = payload.apiKey;
          const [pasted] = /ask_[a-z]+_[0-9A-Za-z]{33}(?![0-9A-Za-z])/.exec(value) ?? [];
          if (pasted) return authorize({ apiKey: { name: "apiKey", schema, value: pasted } });
          const message = "This is not an API key. A key starts with ask_ and the name of its stage.";
          return system.errActions.newAuthErr({ authId: "apiKey", level: "error", source: "key", message });
        },
      },
    },
  },
});
