import t from 'tap'
import { decodeEndpoints } from './endpoints.ts'

const indexed = { WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_URL: 'https://example.com/1' }
const problemsOf = (env: Record<string, string>) => decodeEndpoints(env).problems
const firstWords = (env: Record<string, string>) => problemsOf(env).map((problem) => problem.split(' ')[0])

t.test(
  'the variables of an endpoint that is not scanned are a warning, which names them, and no problem',
  async (t) => {
    const warningsOf = (env: Record<string, string>) => {
      const { problems, warnings } = decodeEndpoints(env)
      t.strictSame(problems, [])
      return warnings
    }
    const reason = (max: number) =>
      `not read, because endpoints are numbered from 1 to WEBHOOK_SCAN_MAX, which is ${max}`
    const eleventh = { WEBHOOK_11_ENABLED: 'true', WEBHOOK_11_URL: 'hidden' }
    t.strictSame(warningsOf(eleventh), [`WEBHOOK_11_ENABLED, WEBHOOK_11_URL: ${reason(10)}`])
    t.strictSame(warningsOf({ WEBHOOK_11_URL: 'hidden' }), [`WEBHOOK_11_URL: ${reason(10)}`])
    t.strictSame(warningsOf({ WEBHOOK_2_ENABLED: 'hidden', WEBHOOK_SCAN_MAX: '1' }), [
      `WEBHOOK_2_ENABLED: ${reason(1)}`,
    ])
    for (const number of ['0', '01', '101', '99999999999999999999'])
      t.strictSame(warningsOf({ [`WEBHOOK_${number}_ENABLED`]: 'true' }), [`WEBHOOK_${number}_ENABLED: ${reason(10)}`])
    for (const off of [{ WEBHOOK_11_ENABLED: 'false' }, { EXTERNAL_WEBHOOKS_ENABLED: 'false' }])
      t.strictSame(warningsOf({ ...eleventh, ...off }), [])
    t.strictSame(warningsOf({ WEBHOOK_11_ENABLED: '', WEBHOOK_11_SERVICE_HOST: '10.0.0.1' }), [])
  },
)

t.test('an unknown variable of an enabled endpoint is a problem', async (t) => {
  for (const suffix of ['EVENT', 'EVENTS_MODE', 'MODE', 'url', 'SECRETS', 'RETRIES', 'MAX_RETRIES', 'SERVICE'])
    t.strictSame(
      problemsOf({ ...indexed, [`WEBHOOK_1_${suffix}`]: 'x' }),
      [
        `WEBHOOK_1_${suffix} is not a known endpoint variable (known: ENABLED, NAME, URL, EVENTS, EVENT_MODE, FORMAT, SECRET, RETRY_SCHEDULE, TIMEOUT)`,
      ],
      suffix,
    )
  t.strictSame(problemsOf({ ...indexed, WEBHOOK_1_EVENT: '' }), [], 'an empty variable counts as unset')
  t.strictSame(problemsOf({ ...indexed, WEBHOOK_2_EVENT: 'x' }), [], 'an endpoint that is not enabled')
  t.strictSame(problemsOf({ ...indexed, MY_WEBHOOK_1_EVENT: 'x', WEBHOOK_SUCCESS_STATUS: '2xx' }), [])
})

t.test('variables that Kubernetes and Docker set for a service named webhook-1 are no problem', async (t) => {
  const containerVariables = {
    WEBHOOK_1_SERVICE_HOST: '10.0.0.1',
    WEBHOOK_1_SERVICE_PORT_HTTP: '80',
    WEBHOOK_1_PORT: 'tcp://10.0.0.1:80',
    WEBHOOK_1_PORT_80_TCP_ADDR: '10.0.0.1',
    WEBHOOK_1_NAME: '/worker/webhook-1',
    WEBHOOK_1_ENV_PATH: '/bin',
  }
  const { problems, endpoints } = decodeEndpoints({ ...indexed, ...containerVariables })
  t.strictSame(problems, [])
  t.equal(endpoints[0]?.label, null, 'the path of a container is no name')
})

t.test('an unknown EXTERNAL_WEBHOOK variable is a problem', async (t) => {
  const known =
    'EXTERNAL_WEBHOOKS_ENABLED, WEBHOOK_SCAN_MAX, EXTERNAL_WEBHOOK_MAX_RETRIES, EXTERNAL_WEBHOOK_RETRY_DELAY, EXTERNAL_WEBHOOK_TIMEOUT, EXTERNAL_WEBHOOK_URLS, EXTERNAL_WEBHOOK_EVENTS'
  t.strictSame(problemsOf({ EXTERNAL_WEBHOOK_ENABLED: 'false' }), [
    `EXTERNAL_WEBHOOK_ENABLED is not a known variable (known: ${known})`,
  ])
  for (const name of ['EXTERNAL_WEBHOOK_URL', 'EXTERNAL_WEBHOOKS_URLS', 'EXTERNAL_WEBHOOK_RETRIES'])
    t.strictSame(firstWords({ [name]: 'x' }), [name])
  t.strictSame(problemsOf({ EXTERNAL_WEBHOOK_URL: 'x', EXTERNAL_WEBHOOKS_ENABLED: 'false' }), [])
  t.strictSame(problemsOf({ EXTERNAL_WEBHOOK_SERVICE_HOST: '10.0.0.1', MY_EXTERNAL_WEBHOOK_URL: 'x' }), [])
})
