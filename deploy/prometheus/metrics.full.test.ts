import { createServer } from 'node:http'
import { startEventStore } from '@paylog/testing/eventStore'
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { startFakeIdentity } from '@paylog/testing/fakeIdentity'
import { listen } from '@paylog/testing/fakeServer'
import { startProcess } from '@paylog/testing/processes'
import { waitFor } from '@paylog/testing/waitFor'
import t, { type Test } from 'tap'
import { alerts, alertsPage, dashboard, jobs } from '../testing/monitoringFixture.ts'
import { readExpression, readMetrics, type Sample, select } from '../testing/promQl.ts'

/** What EventStoreDB 24.10 and KurrentDB 26.0 report; the embedded event store of this test has no metrics. */
const eventStoreMetrics = ['eventstore', 'kurrentdb'].flatMap((product) => {
  const page = ['used', 'total'].map((kind) => `${product}_sys_disk_bytes{disk="/",kind="${kind}"} 270553174016`)
  return readMetrics(page.join('\n'), { job: 'eventstore', instance: 'eventstore:2113' })
})

/** Starts the services as in production. Returns functions that read their metrics. */
async function startServices(t: Test) {
  const [log, identity] = await Promise.all([startEventStore(t), startFakeIdentity(t)])
  const endpoint = await startFakeEndpoint(t, (response, _, { url }) => {
    response.statusCode = Number(url?.slice(-3))
    response.end()
  })
  // A provider that accepts a request and disconnects.
  const silent = createServer((request) => request.socket.destroy())
  const environment = {
    HOST: '127.0.0.1',
    PORT: '0',
    HEALTH_PORT: '0',
    LOG_LEVEL: 'silent',
    DATABASE_URL: log.databaseUrl,
    EVENTSTORE_URL: log.connectionString,
    AUTH_URL: identity.authUrl,
    SANDBOX_PROVIDER: 'true',
    SANDBOX_WEBHOOK_SECRET: 'a-secret-of-the-test',
    STRIPE_SECRET_KEY: 'sk_test_made_up',
    STRIPE_WEBHOOK_SECRET: 'whsec_made_up',
    STRIPE_API_BASE: await listen(t, silent),
    PROVIDER_TIMEOUT_MS: '500',
    WEBHOOK_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8',
    EXTERNAL_WEBHOOK_MAX_RETRIES: '0',
    ...Object.fromEntries(
      [200, 500, 410].flatMap((status, index) => [
        [`WEBHOOK_${index + 1}_ENABLED`, 'true'],
        [`WEBHOOK_${index + 1}_URL`, `${endpoint.url}/${status}`],
      ]),
    ),
  }
  const start = (app: string, args: readonly string[] = []) =>
    startProcess(t, { script: new URL(`../../apps/${app}/src/main.ts`, import.meta.url), env: environment, args })
  await start('ops', ['migrate']).catch((endedInsteadOfReady: Error) => {
    if (!endedInsteadOfReady.message.includes('ended (0)')) throw endedInsteadOfReady
  })
  const apps = ['command-api', 'query-api', 'projector', 'worker']
  const services = await Promise.all(
    apps.map(async (job) => {
      const { detail } = await start(job)
      return { job, url: String(detail.url ?? detail.healthUrl) }
    }),
  )
  const urlOf = (wanted: string) => services.find(({ job }) => job === wanted)?.url ?? ''
  const scrape = async (): Promise<readonly Sample[]> => {
    const pages = services.map(async ({ job, url }) =>
      readMetrics(await (await fetch(`${url}/metrics`)).text(), { job, instance: url }),
    )
    // Prometheus adds `up` for each target.
    const up = jobs.map(({ job_name: job }) => ({ metric: 'up', labels: { job, instance: job } }))
    return [...(await Promise.all(pages)).flat(), ...up, ...eventStoreMetrics]
  }
  return { log, urlOf, scrape }
}

const pay = (url: string, provider_id: string) =>
  fetch(`${url}/payments/intents`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ total_cents: 2200, currency: 'EUR', provider_id, guest_data: guest }),
  })
const guest = { email: 'guest@example.com', name: 'Guest Example' }

/** Causes each condition of the alerts and panels once. */
async function causeFailures({ log, urlOf, scrape }: Awaited<ReturnType<typeof startServices>>) {
  const api = urlOf('command-api')
  await pay(api, 'sandbox')
  await pay(api, 'stripe')
  await fetch(`${api}/webhooks/stripe`, { method: 'POST', body: '{}', headers: { 'stripe-signature': 't=1,v1=00' } })
  await fetch(`${urlOf('query-api')}/payments`, { headers: { authorization: 'Token demo-guest-token' } })
  await waitFor(
    async () => {
      const metrics = new Set((await scrape()).map(({ metric, labels }) => `${metric} ${labels.status ?? ''}`))
      const expected = ['projection_events_total ', 'projection_lag_seconds ', 'webhook_attempts_total ']
      return expected.every((name) => metrics.has(name))
    },
    { what: 'a projected payment, a reported lag, and a delivery', timeoutMs: 30_000 },
  )
  await log.kill()
  await fetch(`${api}/health/ready`)
}

const services = await startServices(t)
await causeFailures(services)
const samples = await services.scrape()
const names = new Set(samples.map(({ metric }) => metric))

/** Not caused here: needs a real signature, or takes longer than a test may. */
const unseen = [
  'http_request_duration_seconds_count POST /webhooks/[^/]+ /webhooks/(sandbox|test) 200',
  'event_store_append_duration_seconds_count failed',
]

function checkExpression(t: Test, name: string, expression: string, shown: readonly string[]) {
  const { selectors, groupedBy } = readExpression(expression)
  t.ok(selectors.length > 0, `${name} has a selector`)
  for (const selector of selectors) {
    const { metric, matchers } = selector
    const wanted = [metric, ...matchers.map(({ value }) => value)].join(' ')
    if (unseen.includes(wanted)) continue
    const found = select(selector, samples)
    if (!t.ok(found.length > 0, `${name} finds ${wanted}`)) continue
    for (const label of [...groupedBy, ...shown])
      t.ok(found[0]?.labels[label] !== undefined, `${metric} of ${name} has the label ${label}`)
  }
}

t.test('every alert expression matches metrics of the services', async (t) => {
  for (const { alert, expr, annotations } of alerts) {
    const shown = [...annotations.summary.matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label)
    checkExpression(t, alert, expr, shown)
  }
})

t.test('every panel and variable of the dashboard matches metrics of the services', async (t) => {
  for (const { title, targets = [] } of dashboard.panels)
    for (const { expr, legendFormat } of targets) {
      const shown = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label)
      checkExpression(t, title, expr, shown)
    }
  for (const { name, definition } of dashboard.templating.list) {
    if (definition === undefined) continue
    const [, metric = '', label = ''] = /^label_values\((\w+), (\w+)\)$/.exec(definition) ?? []
    t.ok(
      samples.some((sample) => sample.metric === metric && label in sample.labels),
      `${name}: ${definition}`,
    )
  }
})

t.test('every metric in docs/alerts.md exists', async (t) => {
  const own =
    /^((event_store_append|provider_call)_duration|audit|commands|http|nodejs|process|projection|webhook|follow_ups|paylog)_\w+$/
  const quoted = [...alertsPage.matchAll(/`([a-z_]+)`/g)].map(([, name = '']) => name)
  const named = quoted.filter((name) => own.test(name))
  t.ok(named.length > 0)
  for (const name of named)
    t.ok(
      [name, `${name}_count`].some((shown) => names.has(shown)),
      name,
    )
})
