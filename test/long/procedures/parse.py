"""Parses commands of the AWS CLI, given as lists of arguments in JSON, with its models of the services. Sends nothing."""

import json
import sys

from awscli.clidriver import create_clidriver
from botocore.client import BaseClient
from botocore.validate import ParamValidator


class Valid(BaseException):
    """Ends a command in place of its request."""


class Validator(ParamValidator):
    def _validate_string(self, param, shape, errors, name):
        super()._validate_string(param, shape, errors, name)
        # The SDKs leave this to the services.
        if getattr(shape, "enum", []) and param not in shape.enum:
            raise ValueError(f"{name} cannot be {param}: {shape.enum}")


def check(client, operation, params):
    shape = client.meta.service_model.operation_model(operation).input_shape
    report = Validator().validate(params, shape)
    raise ValueError(report.generate_report()) if report.has_errors() else Valid()


BaseClient._make_api_call = check
failed = []
for arguments in json.load(sys.stdin):
    try:
        create_clidriver().main(arguments)
        failed.append(arguments)
    except SystemExit:
        failed.append(arguments)
    except Valid:
        pass
for arguments in failed:
    print("Wrong: aws", *arguments, file=sys.stderr)
sys.exit(len(failed) > 0)
