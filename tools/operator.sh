# Functions for operators, which the documents use: run `. tools/operator.sh` in bash or zsh, in the folder of the checkout.

export AWS_PAGER="" GH_PAGER="" TZ=UTC
STACK=animal-store-production
# An alias of yours would come before a function with its name, and break this file.
unalias output resource state alarms changes flush throttle serving versions live pet 2> /dev/null || true

# output <end>: prints the outputs of the stack whose names end in a text.
output() {
  aws cloudformation describe-stacks --stack-name "$STACK" --output text \
    --query "Stacks[0].Outputs[?ends_with(OutputKey, '$1')].OutputValue"
}

# resource <type>: prints the names of the resources of a type, such as IAM::Role.
resource() {
  aws cloudformation list-stack-resources --stack-name "$STACK" --output text \
    --query "StackResourceSummaries[?ResourceType=='AWS::$1' && !starts_with(ResourceStatus, 'DELETE')].PhysicalResourceId"
}

# Prints the name and the state of the stack, and when its last deployment began.
state() {
  aws cloudformation describe-stacks --stack-name "$STACK" --output text \
    --query 'Stacks[0].[StackName,StackStatus,LastUpdatedTime]'
}

# Prints the alarms that are triggered, and since when.
alarms() {
  aws cloudwatch describe-alarms --alarm-name-prefix "$STACK-" --state-value ALARM --output text \
    --query 'MetricAlarms[].[StateTransitionedTimestamp,AlarmName]'
}

# changes [options]: prints what people and programs changed in the last two hours. CloudTrail is about 5 minutes late.
changes() {
  aws cloudtrail lookup-events --lookup-attributes AttributeKey=ReadOnly,AttributeValue=false --max-items 1000 \
    --start-time $(($(date +%s) - 7200)) --output text "$@" \
    --query "Events[?!contains(['CreateLogStream','CreateLogGroup'], EventName)].[EventTime,EventName,Username,Resources[0].ResourceName]"
}

# Empties API Gateway's cache of the authorizer's answers.
flush() {
  aws apigateway flush-stage-authorizers-cache --stage-name "$(resource ApiGateway::Stage)" \
    --rest-api-id "$(resource ApiGateway::RestApi)"
}

# throttle <requests a second> <requests at once>: changes the throttling of each method.
throttle() {
  aws apigateway update-stage --rest-api-id "$(resource ApiGateway::RestApi)" \
    --stage-name "$(resource ApiGateway::Stage)" --output text \
    --query 'methodSettings."*/*".[throttlingRateLimit,throttlingBurstLimit]' \
    --patch-operations "op=replace,path=/*/*/throttling/rateLimit,value=${1:?}" \
    "op=replace,path=/*/*/throttling/burstLimit,value=${2:?}"
}

# Prints the version of the function FUNCTION that serves now.
serving() {
  aws lambda get-alias --function-name "$FUNCTION" --name live --output text --query FunctionVersion
}

# Prints the version of the function FUNCTION that serves now, and its newest versions.
versions() {
  serving
  # The CLI runs --query for each page.
  aws lambda list-versions-by-function --function-name "$FUNCTION" --output text \
    --query 'Versions[].[LastModified,Version]' | sort | tail -n 15
}

# live <version>: sends all calls of the function FUNCTION to a version.
live() {
  aws lambda update-alias --function-name "$FUNCTION" --name live --function-version "${1:?}" \
    --routing-config AdditionalVersionWeights={}
}

# pet <id>: prints what the table has of a pet.
pet() {
  aws dynamodb get-item --consistent-read --table-name "$(output PetsTableName)" --key "{\"id\":{\"N\":\"${1:?}\"}}"
}

echo "The stack is $STACK. For staging: STACK=animal-store-staging"
