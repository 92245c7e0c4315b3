import db from "dynalite/db/index.js";
import putItem from "dynalite/validations/putItem.js";
import updateItem from "dynalite/validations/updateItem.js";

/**
 * Teaches dynalite `ReturnValuesOnConditionCheckFailure` of PutItem and UpdateItem: with `ALL_OLD`,
 * ConditionalCheckFailedException has the existing item, in the form that AWS returned to
 * `test_return_values_on_conditions_check_failure` of localstack/localstack. dynalite 4.0.0 ignores the parameter.
 *
 * @throws Error when dynalite knows the parameter itself, so that this file can be removed
 */
export function returnExistingItems(): void {
  for (const { types } of [putItem, updateItem]) {
    if ("ReturnValuesOnConditionCheckFailure" in types)
      throw new Error(`dynalite returns existing items now: remove ${import.meta.filename}.`);
    types.ReturnValuesOnConditionCheckFailure = { type: "String", enum: ["ALL_OLD", "NONE"] };
  }
  const { checkConditional } = db;
  db.checkConditional = (data, item) => {
    const failure = checkConditional(data, item);
    if (failure && item && data.ReturnValuesOnConditionCheckFailure === "ALL_OLD") failure.body.Item = item;
    return failure;
  };
}
