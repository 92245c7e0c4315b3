# Functions for operators, which the documents use: run `. docs/operator.sh` in bash or zsh, in the folder of the checkout.

export AWS_PAGER="" GH_PAGER=""
STACK=animal-store-production

# Prints the outputs of the stack whose names end in a text.
output() {
  aws cloudformation describe-stacks --stack-name "$STACK" --output text \
    --query "Stacks[0].Outputs[?ends_with(OutputKey, '$1')].OutputValue"
}

# Prints the names of the resources of a type.
resource() {
  aws cloudformation list-stack-resources --stack-name "$STACK" --output text \
    --query "StackResourceSummaries[?ResourceType=='AWS::$1'].PhysicalResourceId"
}

# Prints the state of the stack, and when its last deployment began.
state() {
  aws cloudformation describe-stacks --stack-name "$STACK" --output text \
    --query 'Stacks[0].[StackStatus,LastUpdatedTime]'
}

# Prints the alarms that are triggered, with the time since when.
alarms() {
  aws cloudwatch describe-alarms --alarm-name-prefix "$STACK" --state-value ALARM --output json |
    jq -r '.MetricAlarms[] | "\(.StateUpdatedTimestamp | tostring | .[:16]) \(.AlarmName)"'
}

# changes [options]: prints up to 50 changes that people and programs made in the last two hours.
changes() {
  aws cloudtrail lookup-events --lookup-attributes AttributeKey=ReadOnly,AttributeValue=false --max-items 50 \
    --start-time $(($(date +%s) - 7200)) --output table \
    --query 'Events[].[EventTime,EventName,Username,Resources[0].ResourceName]' "$@"
}

# Prints the last events of the stack's deployment.
events() {
  aws cloudformation describe-stack-events --stack-name "$STACK" --max-items 20 --output text \
    --query 'StackEvents[].[Timestamp,LogicalResourceId,ResourceStatus,ResourceStatusReason]'
}

# Asks for an API key of the stack, and sets API_KEY.
api_key() {
  printf 'API key: '
  read -rs API_KEY
  echo
  export API_KEY
  case $API_KEY in ask_"${STACK#animal-store-}"_*) ;; *) echo "This is not a key of $STACK." ;; esac
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

# Prints the web ACL with its lock token. AWS WAF names it name|id|scope.
web_acl() {
  aws wafv2 get-web-acl --scope REGIONAL --output json --name "$(resource WAFv2::WebACL | cut -d '|' -f 1)" \
    --id "$(resource WAFv2::WebACL | cut -d '|' -f 2)"
}

# Prints the addresses that AWS WAF blocks now.
blocked() {
  aws wafv2 get-rate-based-statement-managed-keys --scope REGIONAL --rule-name RateOfOneAddress \
    --web-acl-name "$(resource WAFv2::WebACL | cut -d '|' -f 1)" --web-acl-id "$(resource WAFv2::WebACL | cut -d '|' -f 2)" \
    --query '[ManagedKeysIPV4.Addresses,ManagedKeysIPV6.Addresses][][]' --output text
}

# waf_limit <rule> <requests a minute>: changes the limit of a rule of the web ACL.
waf_limit() {
  aws wafv2 update-web-acl --cli-input-json "$(web_acl | jq --arg rule "${1:?}" --argjson limit "${2:?}" '
    (.WebACL.Rules[] | select(.Name == $rule).Statement.RateBasedStatement.Limit) = $limit |
    {LockToken, Scope: "REGIONAL"} + (.WebACL | {Name, Id, DefaultAction, Rules, VisibilityConfig})')"
}

# Prints the functions with reserved instances.
reserved() {
  for function in $(output FunctionName); do
    aws lambda get-function-concurrency --function-name "$function" --output text \
      --query "join(': ', ['$function', to_string(ReservedConcurrentExecutions)])" | grep -v ': null$'
  done
}

# reserve <number>: reserves instances for each function.
reserve() {
  for function in $(output FunctionName); do
    aws lambda put-function-concurrency --function-name "$function" --reserved-concurrent-executions "${1:?}"
  done
}

# Prints the canary deployments of this stack that run.
canaries() {
  for group in $(resource CodeDeploy::DeploymentGroup); do
    aws deploy list-deployments --application-name "$(resource CodeDeploy::Application)" --output text \
      --deployment-group-name "$group" --include-only-statuses Created Queued InProgress --query 'deployments[]'
  done
}

# Prints the version of the function FUNCTION that serves now, and its newest versions.
versions() {
  aws lambda get-alias --function-name "$FUNCTION" --name live --query FunctionVersion
  aws lambda list-versions-by-function --function-name "$FUNCTION" --output table \
    --query 'sort_by(Versions, &LastModified)[-5:].[Version,LastModified]'
}

# live <version>: sends all calls of the function FUNCTION to a version.
live() {
  aws lambda update-alias --function-name "$FUNCTION" --name live --function-version "${1:?}" \
    --routing-config AdditionalVersionWeights={}
}

# Prints the version of the function FUNCTION that CloudFormation knows.
recorded() {
  resource Lambda::Version | tr '\t' '\n' | grep ":$FUNCTION:" | grep -o '[0-9]*$'
}

# pet <id>: prints what the table has of a pet.
pet() {
  aws dynamodb get-item --consistent-read --table-name "$(output PetsTableName)" --output json \
    --key "{\"id\":{\"N\":\"${1:?}\"}}"
}

# named <name>: prints the pets with a name. It reads the whole table.
named() {
  aws dynamodb scan --table-name "$(output PetsTableName)" --output json --filter-expression '#name = :name' \
    --expression-attribute-names '{"#name":"name"}' \
    --expression-attribute-values "$(jq -n --arg name "${1:?}" '{":name":{"S":$name}}')" |
    jq -ac '.Items[] | [.id.N, .status.S, .name.S]'
}

# added <from> <to>: prints the pets that were added then, such as from 2027-01-31T09:30:00Z, and 15 s before and after.
added() {
  from=$(jq -rn --arg time "${1:?}" '"\($time | fromdate - 15)0000000000000000000"')
  to=$(jq -rn --arg time "${2:?}" '"\($time | fromdate + 15)0000000000000000000"')
  for pet_status in available pending sold; do
    aws dynamodb query --table-name "$(output PetsTableName)" --index-name byStatus --output json \
      --key-condition-expression '#s = :s AND creationOrder BETWEEN :from AND :to' \
      --expression-attribute-names '{"#s":"status"}' --expression-attribute-values \
      "{\":s\":{\"S\":\"$pet_status\"},\":from\":{\"N\":\"$from\"},\":to\":{\"N\":\"$to\"}}" |
      jq -ac '.Items[] | [.id.N, (.creationOrder.N[:10] | tonumber | todate), .name.S]'
  done
}

# Prints whom the alarms reach.
subscriptions() {
  for topic in $(output TopicArn); do
    aws sns list-subscriptions-by-topic --topic-arn "$topic" --output table \
      --query 'Subscriptions[].[Endpoint,SubscriptionArn]'
  done
}
