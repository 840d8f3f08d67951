import t from 'tap'
import { decodeEndpoints } from './endpoints.ts'

const secret = `whsec_${Buffer.alloc(24, 1).toString('base64')}`
const namesOf = (env: Parameters<typeof decodeEndpoints>[0]) => decodeEndpoints(env).endpoints.map(({ name }) => name)
const enabled = { WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_URL: 'https://example.com/hook' }

t.test('an endpoint with only a URL gets the defaults of the interface [6.2-node-defaults]', async (t) => {
  const { endpoints, problems } = decodeEndpoints(enabled)
  t.strictSame(problems, [])
  t.strictSame(endpoints, [
    {
      name: '1',
      label: null,
      url: 'https://example.com/hook',
      patterns: ['all'],
      mode: 'canonical',
      format: 'json',
      secrets: [],
      retryScheduleMs: [5_000, 10_000, 20_000],
      timeoutMs: 10_000,
    },
  ])
  t.ok(Object.isFrozen(endpoints) && Object.isFrozen(endpoints[0]))
})

t.test('every setting of an endpoint can be configured [1-dispatch]', async (t) => {
  const { endpoints, problems } = decodeEndpoints({
    WEBHOOK_SCAN_MAX: '3',
    WEBHOOK_3_ENABLED: 'true',
    WEBHOOK_3_URL: 'http://127.0.0.1:9/x?key=1',
    WEBHOOK_3_NAME: ' Shop, orders ',
    WEBHOOK_3_EVENTS: 'payment.*, stripe:*',
    WEBHOOK_3_EVENT_MODE: 'both',
    WEBHOOK_3_SECRET: `${secret},${secret}`,
    WEBHOOK_3_RETRY_SCHEDULE: '100ms,2s,3m,1h,7',
    WEBHOOK_3_TIMEOUT: '2s',
  })
  t.strictSame(problems, [])
  t.strictSame(endpoints, [
    {
      name: '3',
      label: 'Shop, orders',
      url: 'http://127.0.0.1:9/x?key=1',
      patterns: ['payment.*', 'stripe:*'],
      mode: 'both',
      format: 'json',
      secrets: [secret, secret],
      retryScheduleMs: [100, 2_000, 180_000, 3_600_000, 7],
      timeoutMs: 2_000,
    },
  ])
})

t.test('the general retry variables apply to endpoints without their own [6.2-backoff]', async (t) => {
  const { endpoints } = decodeEndpoints({
    ...enabled,
    EXTERNAL_WEBHOOK_MAX_RETRIES: '2',
    EXTERNAL_WEBHOOK_RETRY_DELAY: '300',
    EXTERNAL_WEBHOOK_TIMEOUT: '1500',
  })
  t.strictSame(
    endpoints.map(({ retryScheduleMs, timeoutMs }) => [retryScheduleMs, timeoutMs]),
    [[[300, 600], 1_500]],
  )
  t.strictSame(decodeEndpoints({ ...enabled, EXTERNAL_WEBHOOK_MAX_RETRIES: '0' }).endpoints[0]?.retryScheduleMs, [])
})

t.test(
  'only enabled endpoints up to WEBHOOK_SCAN_MAX are used, and EXTERNAL_WEBHOOKS_ENABLED=false turns all off [6.2-scan]',
  async (t) => {
    const far = { WEBHOOK_11_ENABLED: 'true', WEBHOOK_11_URL: 'https://example.com' }
    t.strictSame(decodeEndpoints(far).endpoints, [])
    t.strictSame(namesOf({ ...far, WEBHOOK_SCAN_MAX: '11' }), ['11'])
    t.strictSame(decodeEndpoints({ ...enabled, WEBHOOK_1_ENABLED: 'false' }).endpoints, [])
    t.strictSame(decodeEndpoints({ ...enabled, WEBHOOK_1_ENABLED: '' }).endpoints, [])
    t.strictSame(decodeEndpoints({ ...enabled, EXTERNAL_WEBHOOKS_ENABLED: 'false' }).endpoints, [])
    t.strictSame(decodeEndpoints({ WEBHOOK_2_ENABLED: 'false', WEBHOOK_2_URL: 'not read' }).problems, [])
  },
)

t.test('the scan, retry delays and timeouts have upper limits', async (t) => {
  const hundredth = { WEBHOOK_100_ENABLED: 'true', WEBHOOK_100_URL: 'https://example.com' }
  t.strictSame(namesOf({ ...hundredth, WEBHOOK_SCAN_MAX: '100' }), ['100'])
  t.strictSame(decodeEndpoints({ WEBHOOK_SCAN_MAX: '101' }).problems, [
    'WEBHOOK_SCAN_MAX must be a whole number from 0 to 100',
  ])
  t.strictSame(decodeEndpoints({ ...enabled, WEBHOOK_SCAN_MAX: '0' }).endpoints, [])
  const hourMs = 3_600_000
  const slow = decodeEndpoints({ ...enabled, EXTERNAL_WEBHOOK_RETRY_DELAY: '10h', EXTERNAL_WEBHOOK_MAX_RETRIES: '4' })
  t.strictSame(slow.endpoints[0]?.retryScheduleMs, [10 * hourMs, 20 * hourMs, 24 * hourMs, 24 * hourMs])
  const slowest = decodeEndpoints({ ...enabled, WEBHOOK_1_TIMEOUT: '5m' })
  t.strictSame([slowest.endpoints[0]?.timeoutMs, slowest.problems], [300_000, []])
  t.equal(decodeEndpoints({ ...enabled, WEBHOOK_1_TIMEOUT: '300001ms' }).problems.length, 1)
})

t.test('spaces around the value of a webhook variable are ignored', async (t) => {
  const { endpoints, problems } = decodeEndpoints({
    WEBHOOK_SCAN_MAX: ' 1 ',
    WEBHOOK_1_ENABLED: ' true\n',
    WEBHOOK_1_URL: ' https://example.com/hook ',
    WEBHOOK_1_EVENT_MODE: ' raw',
    WEBHOOK_1_FORMAT: 'json ',
    WEBHOOK_1_RETRY_SCHEDULE: ' 1s , 2s ',
  })
  t.strictSame(problems, [])
  t.strictSame(
    endpoints.map(({ url, mode, retryScheduleMs }) => [url, mode, retryScheduleMs]),
    [['https://example.com/hook', 'raw', [1_000, 2_000]]],
  )
})

t.test('every bad webhook variable is named without its value [10.4-bad-variables]', async (t) => {
  const { problems } = decodeEndpoints({
    EXTERNAL_WEBHOOKS_ENABLED: 'constructor',
    EXTERNAL_WEBHOOK_MAX_RETRIES: '21',
    EXTERNAL_WEBHOOK_RETRY_DELAY: '0',
    EXTERNAL_WEBHOOK_TIMEOUT: '1d',
    WEBHOOK_SCAN_MAX: '2x',
    WEBHOOK_1_ENABLED: 'true',
    WEBHOOK_1_URL: 'ftp://hidden.example/x',
    WEBHOOK_1_EVENTS: 'payment.*,hid*den',
    WEBHOOK_1_EVENT_MODE: 'hidden',
    WEBHOOK_1_SECRET: 'whsec_hidden',
    WEBHOOK_1_RETRY_SCHEDULE: '5s,hidden',
    WEBHOOK_1_TIMEOUT: '6m',
    WEBHOOK_1_FORMAT: 'hidden',
    WEBHOOK_1_SECRETS: 'hidden',
    WEBHOOK_2_ENABLED: 'true',
    WEBHOOK_3_ENABLED: 'true',
    WEBHOOK_3_URL: 'https://user:hidden@example.com',
    WEBHOOK_4_ENABLED: 'hidden',
    WEBHOOK_5_ENABLED: 'true',
    WEBHOOK_5_URL: 'https://api.telegram.org/bothidden/sendMessage',
    WEBHOOK_5_FORMAT: 'telegram',
    EXTERNAL_WEBHOOK_URLS: 'https://example.com/hidden,hidden',
    EXTERNAL_WEBHOOK_EVENTS: 'hid*den',
  })
  t.strictSame(problems.map((problem) => problem.split(' ')[0]).sort(), [
    'EXTERNAL_WEBHOOKS_ENABLED',
    'EXTERNAL_WEBHOOK_EVENTS',
    'EXTERNAL_WEBHOOK_MAX_RETRIES',
    'EXTERNAL_WEBHOOK_RETRY_DELAY',
    'EXTERNAL_WEBHOOK_TIMEOUT',
    'EXTERNAL_WEBHOOK_URLS',
    'WEBHOOK_1_EVENTS',
    'WEBHOOK_1_EVENT_MODE',
    'WEBHOOK_1_FORMAT',
    'WEBHOOK_1_RETRY_SCHEDULE',
    'WEBHOOK_1_SECRET',
    'WEBHOOK_1_SECRETS',
    'WEBHOOK_1_TIMEOUT',
    'WEBHOOK_1_URL',
    'WEBHOOK_2_URL',
    'WEBHOOK_3_URL',
    'WEBHOOK_4_ENABLED',
    'WEBHOOK_5_URL',
    'WEBHOOK_SCAN_MAX',
  ])
  t.notMatch(problems.join('\n'), /hid(?:den|\*)|constructor/)
})

t.test('a problem names the allowed values', async (t) => {
  const { problems } = decodeEndpoints({
    ...enabled,
    WEBHOOK_1_EVENTS: 'payments/*',
    WEBHOOK_1_TIMEOUT: '6m',
    WEBHOOK_2_ENABLED: 'true',
    WEBHOOK_2_URL: 'https://user:word@example.com',
    EXTERNAL_WEBHOOK_RETRY_DELAY: '25h',
  })
  t.strictSame(problems, [
    'EXTERNAL_WEBHOOK_RETRY_DELAY must be a duration such as 500ms, 5s, 2m or 1h, at most 24h',
    'WEBHOOK_1_EVENTS must be a comma-separated list of event patterns: all, a name such as payment.succeeded, payment.*, or with a provider stripe:*',
    'WEBHOOK_1_TIMEOUT must be a duration such as 500ms, 5s, 2m or 1h, at most 5m',
    'WEBHOOK_2_URL must be an http or https URL without user name, password and fragment, and without spaces',
  ])
})
