# bash tools/deploy.sh <stage>: deploys a stage (docs/deployment.md, "Deploy by hand"). Meanwhile, and for a minute afterwards,
# it sends requests to every operation. After several wrong answers, all functions serve again what they served before.

set -eo pipefail
CDPATH='' cd -- "$(dirname -- "$0")/.."
. tools/operator.sh > /dev/null
STACK=animal-store-${1:?A stage is missing.} API_KEY=${API_KEY:?An API key of the stage with both scopes is missing.}
url=$(output BaseUrl)
echo "url=$url" >> "${GITHUB_OUTPUT:-/dev/null}"
sent=0 refused='' wrong='' failed='' before='' result=''

# send <function> <right status> <arguments of curl>: counts the answers from the first right one on, because a new operation
# has no route before the end of the deployment. API Gateway caches each spelling: with a new number of spaces, a request
# asks the new authorizer, as long as 4000 requests take longer than `authorizerCacheSeconds`.
send() {
  sent=$((sent + 1)) spaces=$((1 + sent % 4000))
  status=$(curl -qsm 10 -o /dev/null -w '%{http_code}' "${@:3}" \
    -H @<(printf 'Authorization: Bearer%*s' $((spaces + ${#API_KEY})) "$API_KEY")) || true
  [[ $status != 40[13] ]] || refused=$status
  if [[ $status == "$2" ]]; then ((++right_$1)) && return; fi
  ((right_$1)) || return 0
  wrong="$1: $status in place of $2" && echo "$wrong"
  ((++wrong_$1 < 3 || 100 * wrong_$1 <= right_$1 + wrong_$1)) || failed="$1 got wrong answers."
}

# again <function>: forgets the answers of the old version, but not that there was a right one.
again() { ((right_$1 = right_$1 > 0, wrong_$1 = 0)) || true; }

# tell <function>: prints how many answers it had. One that was never right is new, or was wrong before.
tell() {
  echo "$1: $((right_$1)) right answers, then $((wrong_$1)) wrong ones."
  ((right_$1)) || result=${result:-"Not rolled back: $1 had no right answer."}
}

# each <send, again or tell>: none of the requests adds a pet.
each() {
  "$1" ListPets 200 "$url/pets?limit=1"
  "$1" GetPet 404 "$url/pets/1"
  "$1" CreatePet 400 -d '{}' -H Content-Type:application/json "$url/pets"
}

# move <lines>: lets functions serve versions, all at once. A line is "--function-name <name> --function-version <version>".
# After an exit with 255, xargs would move no other function.
move() {
  local update='aws lambda update-alias --name live --routing-config AdditionalVersionWeights={} "$@" > /dev/null || exit 1'
  xargs -n 4 -P 10 sh -c "$update" - <<< "$1"
}

# Lets all functions serve what they served before. The cache would keep the answers of a wrong authorizer for its time.
roll_back() { local status=0; move "$before" || status=1; flush; return $status; }

# Sends requests, and rolls back at once: during a deployment again and again, because CloudFormation can move more functions.
watch() {
  wrong='' && each send
  [[ ! $failed ]] || roll_back
  sleep 1
}

[[ $(state) == *_COMPLETE$'\t'* ]] || { echo "No deployment can begin now: $(state)" && exit 1; }
each send
[[ ! $refused ]] || { echo "Refused with a $refused: replace the key (docs/deployment.md, step 5)." && exit 1; }
functions=$(output FunctionName)
for FUNCTION in $functions; do
  before+="--function-name $FUNCTION --function-version $(serving)"$'\n'
done
echo "Before: $before"
set +e # from here on, no error ends the script, and neither does a pipe whose reader has ended
trap '' PIPE
trap 'failed="Somebody stopped the script." && echo "Rolling back. AWS goes on: wait until this ends."' INT TERM HUP
# --exclusively: the account stack decides what a job is allowed to do, so it is deployed by hand.
env -u API_KEY npx cdk deploy "$STACK" --exclusively --require-approval never &
deployment=$!
# A signal can end cdk, and CloudFormation goes on.
while kill -0 $deployment 2> /dev/null || [[ $(state || state) == *_IN_PROGRESS$'\t'* ]]; do watch; done
wait $deployment || failed=${failed:-"cdk deploy failed."}
# CloudFormation moves no function that has not changed. An operator or an earlier deployment can have moved it back.
[[ $failed ]] || { newest=$(resource Lambda::Version | tr '\t' '\n' |
  sed 's/.*:function:\(.*\):/--function-name \1 --function-version /') && move "$newest"; } || failed="A move failed."
[[ $failed ]] || { each again && echo "Sending requests for a minute."; }
end=$(($(date +%s) + 60))
until [[ $failed ]] || { (($(date +%s) > end)) && [[ ! $wrong ]]; }; do watch; done
if [[ $failed ]]; then
  roll_back && result="Rolled back:" || result="Not every function could be moved back:"
  sleep 5
  wrong='' && each send
  result="$result $failed${wrong:+ Answers are still wrong.}"
fi
each tell
echo "${result:-Deployed.}"
[[ ! $result ]]
