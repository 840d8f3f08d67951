import t from 'tap'
import { decodeEndpoints } from './endpoints.ts'

const urls = 'https://example.com/a, http://127.0.0.1:9/b?key=1'
const indexed = { WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_URL: 'https://example.com/1' }
const problemsOf = (env: Record<string, string>) => decodeEndpoints(env).problems

t.test("the legacy list has one unsigned endpoint per URL, with the interface's defaults [6.2-list]", async (t) => {
  const { endpoints, problems } = decodeEndpoints({ EXTERNAL_WEBHOOK_URLS: urls })
  t.strictSame(problems, [])
  const common = {
    label: null,
    patterns: ['all'],
    mode: 'legacy',
    format: 'json',
    secrets: [],
    retryScheduleMs: [5_000, 10_000, 20_000],
    timeoutMs: 10_000,
  }
  t.strictSame(endpoints, [
    { name: 'legacy-1', url: 'https://example.com/a', ...common },
    { name: 'legacy-2', url: 'http://127.0.0.1:9/b?key=1', ...common },
  ])
  t.ok(endpoints.every((endpoint) => Object.isFrozen(endpoint)))
})

t.test('patterns, retries and timeout of the legacy list apply to all its endpoints [6.2-list-settings]', async (t) => {
  const { endpoints, problems } = decodeEndpoints({
    EXTERNAL_WEBHOOKS_ENABLED: 'true',
    EXTERNAL_WEBHOOK_URLS: urls,
    EXTERNAL_WEBHOOK_EVENTS: 'payment_intent.*, customer.created',
    EXTERNAL_WEBHOOK_MAX_RETRIES: '2',
    EXTERNAL_WEBHOOK_RETRY_DELAY: '1000',
    EXTERNAL_WEBHOOK_TIMEOUT: '2500',
  })
  t.strictSame(problems, [])
  for (const { patterns, retryScheduleMs, timeoutMs } of endpoints)
    t.strictSame(
      [patterns, retryScheduleMs, timeoutMs],
      [['payment_intent.*', 'customer.created'], [1_000, 2_000], 2_500],
    )
  t.equal(endpoints.length, 2)
})

const nothing = { endpoints: [], problems: [], warnings: [] }

t.test(
  'numbered endpoints and the legacy list work side by side, and EXTERNAL_WEBHOOKS_ENABLED=false turns off both [6.2-switch]',
  async (t) => {
    const both = { ...indexed, EXTERNAL_WEBHOOK_URLS: urls, EXTERNAL_WEBHOOK_EVENTS: 'customer.*' }
    t.strictSame(
      decodeEndpoints(both).endpoints.map(({ name, mode, patterns }) => [name, mode, patterns]),
      [
        ['1', 'canonical', ['all']],
        ['legacy-1', 'legacy', ['customer.*']],
        ['legacy-2', 'legacy', ['customer.*']],
      ],
    )
    const off = {
      ...both,
      EXTERNAL_WEBHOOKS_ENABLED: 'false',
      EXTERNAL_WEBHOOK_EVENTS: 'a*',
      WEBHOOK_11_ENABLED: 'true',
    }
    t.strictSame(decodeEndpoints(off), nothing)
    for (const none of [{}, { EXTERNAL_WEBHOOK_URLS: '' }])
      t.strictSame(decodeEndpoints({ EXTERNAL_WEBHOOK_EVENTS: 'a*', ...none }), nothing)
  },
)

t.test('a bad URL in the legacy list is one problem that does not show the URL', async (t) => {
  for (const bad of ['hook', 'ftp://example.com', 'https://user@example.com', 'https://example.com,', ','])
    t.strictSame(
      problemsOf({ EXTERNAL_WEBHOOK_URLS: `https://example.com,${bad}` }),
      [
        'EXTERNAL_WEBHOOK_URLS must be a comma-separated list of http or https URLs without user name, password and fragment, and without spaces',
      ],
      bad,
    )
})
