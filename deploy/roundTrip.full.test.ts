// Runs the compose files, and the small form of the Kubernetes manifests, as local processes with the same commands and
// variables, and sends a payment through them.
import { writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { waitFor } from '@paylog/testing/waitFor'
import pg from 'pg'
import { Webhook } from 'standardwebhooks'
import t, { type Test } from 'tap'
import { missingProgram, readCompose } from './testing/composeFile.ts'
import type { Container } from './testing/container.ts'
import { type Deployment, deploymentHarness } from './testing/deploymentHarness.ts'
import { podsOf, readManifests, servicesOfPods } from './testing/manifests.ts'
import { admin, guest, pay, request, settle } from './testing/payments.ts'

const signingSecret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`

/** Sends an incomplete notification and returns the response. */
async function sendIncompleteNotification({ url }: Deployment): Promise<string> {
  const { hostname, port, host } = new URL(url)
  const socket = connect(Number(port), hostname)
  const signature = `t=${Math.floor(Date.now() / 1000)},v1=${'0'.repeat(64)}`
  socket.write(
    `POST /webhooks/sandbox HTTP/1.1\r\nHost: ${host}\r\nsandbox-signature: ${signature}\r\nContent-Length: 100\r\n\r\n{`,
  )
  return await text(socket)
}

const settings = { WEBHOOK_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8', LOG_LEVEL: 'warn' }
const endpointVariables = ({ url }: { readonly url: string }) => ({
  WEBHOOK_1_ENABLED: 'true',
  WEBHOOK_1_URL: url,
  WEBHOOK_1_SECRET: signingSecret,
})

async function deploy(t: Test, files: readonly string[] = ['trial'], variables: Readonly<Record<string, string>> = {}) {
  const endpoint = await startFakeEndpoint(t)
  const file = `${t.testdir({})}/webhooks.env`
  const lines = Object.entries(endpointVariables(endpoint)).map(([name, value]) => `${name}=${value}\n`)
  await writeFile(file, lines.join(''))
  const compose = await readCompose(files, { WEBHOOKS_ENV_FILE: file, ...settings, ...variables })
  return { endpoint, compose, deployment: await deploymentHarness(t, compose) }
}

/** The small form, with the trial's people and provider. */
async function deployManifests(t: Test) {
  const endpoint = await startFakeEndpoint(t)
  const { identity, worker } = (await readCompose(['trial'])).services
  if (identity === undefined) throw new Error('the trial has no identity backend')
  const sandbox = Object.entries(worker?.environment ?? {}).filter(([name]) => name.startsWith('SANDBOX_'))
  const services = servicesOfPods(podsOf(await readManifests('small')), {
    AUTH_URL: 'http://identity:8080',
    ...Object.fromEntries(sandbox),
    ...endpointVariables(endpoint),
    ...settings,
  })
  return { endpoint, deployment: await deploymentHarness(t, { services: { ...services, identity } }) }
}

async function paymentSucceeds(
  t: Test,
  { deployment, endpoint }: Awaited<ReturnType<typeof deployManifests>>,
): Promise<string> {
  const opened = await pay(deployment)
  t.equal(opened.status, 201, opened.text)
  const { id, provider_intent_id } = opened.body.data
  const after = { ...guest, 'x-read-after': opened.headers.get('x-event-position') ?? '' }
  const seen = await request(deployment, `/payments/${id}`, { headers: after })
  t.match(seen, { status: 200, body: { data: { id, status: 'pending' } } }, 'the guest reads their write')
  t.notOk(seen.headers.has('x-read-stale'))
  t.equal((await settle(deployment, provider_intent_id)).status, 200)
  const list = await waitFor(
    async () => {
      const { body } = await request(deployment, '/payments?status=succeeded', { headers: guest })
      return body.data.some((payment: { id: string }) => payment.id === id) && body
    },
    { what: 'the settled payment in the list' },
  )
  t.ok(list.success)
  const webhook = await waitFor(
    () => endpoint.received.find(({ body }) => body.includes(id) && body.includes('payment.succeeded')),
    { what: 'the webhook', timeoutMs: 30_000 },
  )
  new Webhook(signingSecret).verify(webhook.body, webhook.headers as Record<string, string>)
  return id
}

async function routes(t: Test, deployment: Deployment, id: string) {
  const history = await request(deployment, `/admin/payments/${id}/history`, { headers: admin })
  t.equal(history.status, 200, 'command-api serves the history')
  t.match(history.text, /PaymentSucceeded/)
  const logs = await request(deployment, '/webhooks/logs', { headers: admin })
  t.equal(logs.status, 200)
  t.match(JSON.stringify(logs.body), 'payment.succeeded', 'query-api serves the webhook log')
  const head = await request(deployment, `/payments/${id}`, { method: 'HEAD', headers: guest })
  t.match({ status: head.status, text: head.text }, { status: 200, text: '' }, 'HEAD is routed as a read')
  const unknown = await request(deployment, '/payments', { method: 'PROPFIND', headers: guest })
  t.ok(unknown.status >= 400 && unknown.status < 500, `an unknown method is rejected: ${unknown.status}`)
  for (const [method, path, allow] of [
    ['PUT', '/payments', 'GET, HEAD'],
    ['GET', '/webhooks/test', 'POST'],
  ] as const) {
    const { status, headers } = await request(deployment, path, { method, headers: guest })
    t.same([status, headers.get('allow')], [405, allow], `${method} ${path} through the edge`)
  }
  t.match(unknown.body, { success: false })
  const document = await request(deployment, '/openapi.json')
  t.match(document.body.paths, { '/payments/intents': { post: Object }, '/payments/{id}': { get: Object } })
  t.match(await request(deployment, '/docs'), { status: 200, text: /swagger-ui/ })
  t.match(await request(deployment, '/console/config.json'), { status: 200, text: '{"session_cookie":false}' })
  const system = await request(deployment, '/admin/system', { headers: admin })
  t.same(
    system.body.data.processes.map(({ name, status }: Record<string, string>) => `${name} ${status}`),
    ['operator-api ready', 'command-api ready', 'query-api ready', 'projector ready', 'worker ready'],
    'operator-api reaches the other processes',
  )
  const verification = await request(deployment, '/admin/projections/payments/verify', {
    method: 'POST',
    headers: admin,
  })
  t.equal(verification.status, 202, verification.text)
  const job = () => request(deployment, `/admin/jobs/${verification.body.data.id}`, { headers: admin })
  await waitFor(async () => (await job()).body.data.status !== 'running', { what: 'the verification' })
  t.match((await job()).body.data, { status: 'succeeded', result: { outcome: 'equal' } })
  for (const path of ['/metrics', '/%6detrics', '//metrics', '/metrics/', '/health/ready', '/health/live', '/HEALTH']) {
    const inside = await request(deployment, path)
    const error = { code: 'not_found', request_id: inside.headers.get('x-request-id') }
    t.match(inside, { status: 404, body: { success: false, error } }, `${path} is not published`)
    t.notMatch(inside.text, /http_request|projection/)
  }
  for (const path of ['/payments', '/metrics']) {
    const { headers } = await request(deployment, path)
    t.notOk(headers.has('server'), 'there is no Server header')
  }
  const large = await request(deployment, '/payments/intents', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ description: 'x'.repeat(2_000_000) }),
  })
  t.match(large, { status: 413, body: { error: { code: 'body_too_large' } } })
  for (const service of ['command-api', 'query-api', 'operator-api', 'projector', 'worker'])
    t.equal(
      (await fetch(`${deployment.inside(service)}/metrics`)).status,
      200,
      `${service} serves metrics inside the network`,
    )
}

/** From the start page to the sandbox's page and back, by forms alone. */
async function visitorPays(t: Test, deployment: Deployment) {
  const start = await request(deployment, '/')
  t.match(start, { status: 200, text: /Pay 22\.00 EUR/ })
  t.notMatch(start.text, /unavailable|unreachable/)
  const submit = async (path: string, body: Readonly<Record<string, string>> = {}) => {
    const init = { method: 'POST', body: new URLSearchParams(body), redirect: 'manual' } as const
    const { status, headers } = await request(deployment, path, init)
    t.equal(status, 303)
    // As browsers on the host see it; here the edge has another port.
    return (headers.get('location') ?? '').replace('http://127.0.0.1:8080', '')
  }
  const page = await submit('/pages/first-payment')
  t.match(await request(deployment, page), { status: 200, text: /22\.00 EUR/ })
  const back = await submit(page, { action: 'pay' })
  t.match(await request(deployment, back), { status: 200, text: /succeeded/ })
}

async function guestReadsOwnWrites(t: Test, deployment: Deployment) {
  const init = {
    method: 'POST',
    headers: { ...guest, 'content-type': 'application/json' },
    body: JSON.stringify({ address_type: 'shipping', is_partial: true, country: 'FR' }),
  }
  for (let n = 0; n < 8; n++) {
    const added = await request(deployment, '/addresses', init)
    t.equal(added.status, 201, added.text)
    const seen = await request(deployment, `/addresses/${added.body.data.id}`, { headers: guest })
    t.equal(seen.status, 200, 'query-api knows of the write through command-api')
  }
}

const apps = ['query-api', 'operator-api', 'projector', 'worker', 'identity']

/** Restarts every service. A payment sent while command-api is down is created once, if necessary by a retry. */
async function restarts(t: Test, { containers }: Deployment, payMeanwhile: () => ReturnType<typeof pay>) {
  const each = (names: readonly string[], act: (container: Container, name: string) => Promise<unknown>) =>
    Promise.all(names.map((name) => containers[name] && act(containers[name], name)))
  const stop = (names: readonly string[]) =>
    each(names, async (container, name) => {
      t.equal(await container.stop(), 0, `${name} stops cleanly: ${container.output().slice(-500)}`)
    })
  const start = (names: readonly string[]) => each(names, (container) => container.start())

  await stop(['command-api'])
  const meanwhile = payMeanwhile()
  await start(['command-api'])
  const { status, text } = await meanwhile
  // Older versions of Caddy cannot wait with a body (see deploy/edge/Caddyfile). Then the client has to retry.
  t.ok([201, 503, 504].includes(status), `a payment during the restart is created or rejected: ${text}`)
  t.equal((await payMeanwhile()).status, 201, 'a retry with the same key succeeds')
  // In reverse order of their dependencies, as compose does.
  await stop(apps)
  await stop(['redis', 'edge'])
  await start(['redis', 'edge'])
  await start(apps)
}

const missing = await missingProgram('docker-compose', 'caddy', 'openssl', 'redis-server', 'redis-cli', 'wget')
t.test(
  'the compose services take a payment from the edge to a signed webhook, and keep it across restarts',
  { skip: missing !== undefined && `NOT TESTED: ${missing}, the compose files are not run` },
  async (t) => {
    const deployed = await deploy(t)
    const { deployment } = deployed
    const id = await paymentSucceeds(t, deployed)
    await routes(t, deployment, id)
    await visitorPays(t, deployment)
    await guestReadsOwnWrites(t, deployment)
    await restarts(t, deployment, () => pay(deployment, { key: 'meanwhile' }))
    await paymentSucceeds(t, deployed)
    t.match(
      await sendIncompleteNotification(deployment),
      /^HTTP\/1.1 408 /,
      'an incomplete notification does not get 200',
    )
    const { body } = await request(deployment, '/payments?limit=10', { headers: guest })
    t.equal(body.meta.total, 4, 'all payments are listed')
    t.match(await request(deployment, `/payments/${id}`, { headers: guest }), {
      body: { data: { status: 'succeeded' } },
    })
    const { containers } = deployment
    for (const [name, container] of Object.entries(containers))
      t.notMatch(container.output(), /demo-guest-token|guest@example\.com/, `${name} logs no credential`)
  },
)

const withoutLimits = Object.fromEntries(
  ['', 'ANONYMOUS_', 'UNAUTHENTICATED_'].map((who) => [`RATE_LIMIT_${who}PER_MINUTE`, '0']),
)

t.test(
  'the small form takes payments from the edge to a signed webhook and has at most 25 sessions of Postgres',
  { skip: missing !== undefined && `NOT TESTED: ${missing}, the compose files are not run` },
  async (t) => {
    const deployed = await deploy(t, ['small', 'small-trial'], withoutLimits)
    const { deployment } = deployed
    const id = await paymentSucceeds(t, deployed)
    await visitorPays(t, deployment)
    await guestReadsOwnWrites(t, deployment)
    const client = new pg.Client({ connectionString: deployment.databaseUrl })
    await client.connect()
    t.teardown(() => client.end())
    const load = Array.from({ length: 40 }, async (_, n) => {
      for (let round = 0; round < 5; round++) {
        t.equal((await pay(deployment, { key: `load ${n} ${round}` })).status, 201)
        t.equal((await request(deployment, '/payments', { headers: guest })).status, 200)
      }
    })
    const done = Promise.all(load).then(() => true)
    let most = 0
    while (!(await Promise.race([done, sleep(100, false)]))) {
      const { rows } = await client.query<{ application_name: string; count: number }>(
        'select application_name, count(*)::int as count from pg_stat_activity ' +
          'where datname = current_database() and pid <> pg_backend_pid() group by 1 order by 2 desc',
      )
      const count = rows.reduce((sum, row) => sum + row.count, 0)
      if (count > most) t.comment(JSON.stringify(rows))
      most = Math.max(most, count)
    }
    t.comment(`MEASURED: the small form had up to ${most} sessions of Postgres under load`)
    t.ok(most <= 25, `${most} sessions`)
    t.match(await request(deployment, `/payments/${id}`, { headers: guest }), { status: 200 })
    for (const name of ['worker', 'api', 'projector', 'edge'])
      t.equal(await deployment.containers[name]?.stop(), 0, `${name} stops cleanly`)
  },
)

const missingKubectl = missing ?? (await missingProgram('kubectl'))
t.test(
  'the small form for Kubernetes takes a payment from the edge to a signed webhook',
  { skip: missingKubectl !== undefined && `NOT TESTED: ${missingKubectl}, the manifests are not run` },
  async (t) => {
    const deployed = await deployManifests(t)
    await paymentSucceeds(t, deployed)
    await guestReadsOwnWrites(t, deployed.deployment)
  },
)
