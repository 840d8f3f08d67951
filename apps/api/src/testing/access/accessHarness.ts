// Runs the whole system and keeps all of its output, for tests that search it for leaks.
import { randomBytes } from 'node:crypto'
import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { EventStore } from '@paylog/event-store/eventStore'
import { connectEventStore } from '@paylog/event-store/testing/eventStoreHarness'
import { signSandboxEvent } from '@paylog/providers/sandbox/notifications'
import { startTestKeys } from '@paylog/testing/dataKeys'
import { type FakeEndpoint, startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import { createMigratedDatabase } from '@paylog/testing/migratedDatabase'
import { freePort, startProcess, type TestProcess } from '@paylog/testing/processes'
import type { Test } from 'tap'
import { type FakeIdentityBackend, startFakeIdentityBackend } from './fakeIdentityBackend.ts'
import { type Caller, rightsOfPeople } from './people.ts'

const apps = ['embedded-event-store', 'api', 'projector', 'worker'] as const
export type App = (typeof apps)[number]

export type AccessHarness = {
  readonly baseUrl: string
  readonly databaseUrl: string
  readonly identity: FakeIdentityBackend
  readonly store: EventStore
  readonly endpoints: Readonly<Record<'canonical' | 'both' | 'raw' | 'failing' | 'chat' | 'legacy', FakeEndpoint>>
  /** All output of the process. */
  written(): ReadonlyMap<App, string>
  /** Sends SIGKILL. */
  kill(app: App): Promise<void>
  start(app: App): Promise<void>
  /** A signed notification of the sandbox. */
  notification(event: object): { readonly headers: Record<string, string>; readonly body: string }
}

const main = (app: string) => new URL(`../../../../${app}/src/main.ts`, import.meta.url)

/** Secrets in webhook URLs are for the operator only. */
const endpointSecret = 'cred.endpoint.url'

/**
 * Starts every app with LOG_LEVEL=trace. The endpoint `failing` responds 500 to everything and quotes its own URL.
 * @param env more variables, for all apps but the event store
 */
export async function startAccessHarness(t: Test, env: Readonly<Record<string, string>> = {}): Promise<AccessHarness> {
  const endpoints = {
    canonical: await startFakeEndpoint(t),
    both: await startFakeEndpoint(t),
    raw: await startFakeEndpoint(t),
    failing: await startFakeEndpoint(t, (response, _index, { url }) =>
      response.writeHead(500).end(`out of order: ${url}`),
    ),
    chat: await startFakeEndpoint(t),
    legacy: await startFakeEndpoint(t),
  }
  const [{ databaseUrl }, identity, port, storePort] = await Promise.all([
    createMigratedDatabase(t),
    startFakeIdentityBackend(t),
    freePort(),
    freePort(),
  ])
  const sandboxSecret = randomBytes(24).toString('hex')
  const eventStoreUrl = `esdb://127.0.0.1:${storePort}?tls=false`
  const common = { HOST: '127.0.0.1', DATABASE_URL: databaseUrl, LOG_LEVEL: 'trace' }
  const shared = {
    ...common,
    PORT: String(port),
    EVENTSTORE_URL: eventStoreUrl,
    AUTH_URL: identity.authUrl,
    RIGHTS: rightsOfPeople,
    SANDBOX_PROVIDER: 'true',
    SANDBOX_WEBHOOK_SECRET: sandboxSecret,
    WEBHOOK_ALLOWED_PRIVATE_CIDRS: '127.0.0.0/8',
    RATE_LIMIT_ANONYMOUS_PER_MINUTE: '0',
    RATE_LIMIT_WEBHOOK_TESTS_PER_MINUTE: '0',
    ...endpointVariables(endpoints),
    ...env,
  }
  const started: { app: App; process: TestProcess }[] = []
  async function start(app: App): Promise<void> {
    const ofApp = app === 'embedded-event-store' ? { ...common, PORT: String(storePort) } : shared
    started.push({ app, process: await startProcess(t, { script: main(app), env: ofApp }) })
  }
  await start('embedded-event-store')
  await Promise.all([start('api'), start('projector'), start('worker')])
  const keys = await startTestKeys(t, databaseUrl)
  const store = connectEventStore(t, { connectionString: eventStoreUrl, keys })
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    databaseUrl,
    identity,
    store,
    endpoints,
    written: () =>
      new Map(
        apps.map((app) => [app, started.flatMap((one) => (one.app === app ? one.process.output() : [])).join('')]),
      ),
    async kill(app) {
      await started.findLast((one) => one.app === app)?.process.kill('SIGKILL')
    },
    start,
    notification(event) {
      const created = Math.floor(Date.now() / 1000)
      const body = JSON.stringify({ ...event, created })
      const signature = signSandboxEvent(sandboxSecret, body, created)
      return { headers: { 'content-type': 'application/json', 'sandbox-signature': signature }, body }
    },
  }
}

function endpointVariables({
  canonical,
  both,
  raw,
  failing,
  chat,
  legacy,
}: AccessHarness['endpoints']): Record<string, string> {
  const endpoint = (number: number, { url }: FakeEndpoint, mode: string) => ({
    [`WEBHOOK_${number}_ENABLED`]: 'true',
    [`WEBHOOK_${number}_URL`]: `${url}?key=${endpointSecret}`,
    [`WEBHOOK_${number}_EVENT_MODE`]: mode,
    [`WEBHOOK_${number}_RETRY_SCHEDULE`]: '100ms',
  })
  return {
    ...endpoint(1, canonical, 'canonical'),
    ...endpoint(2, both, 'both'),
    ...endpoint(3, raw, 'raw'),
    ...endpoint(4, failing, 'both'),
    ...endpoint(5, chat, 'both'),
    WEBHOOK_5_FORMAT: 'slack',
    EXTERNAL_WEBHOOK_URLS: `${legacy.url}?key=${endpointSecret}`,
    EXTERNAL_WEBHOOK_EVENTS: 'all',
  }
}

const responseTimeoutMs = 20_000

export type ApiResponse = {
  readonly caller: Caller
  /** Method and path, for assertion messages. */
  readonly request: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  readonly json: Readonly<Record<string, unknown>>
}

export type RequestOptions = {
  readonly headers?: Readonly<Record<string, string>>
  /** An object is sent as JSON, a string as it is. */
  readonly body?: object | string
}

export type Client = {
  send(caller: Caller, method: string, path: string, options?: RequestOptions): Promise<ApiResponse>
  /** All responses so far. */
  readonly responses: readonly ApiResponse[]
}

/** Sends requests over kept-alive connections and keeps every response with its caller. */
export function createClient(t: Test, baseUrl: string): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  t.teardown(() => agent.destroy())
  const { hostname, port } = new URL(baseUrl)
  const responses: ApiResponse[] = []

  return {
    responses,
    async send(caller, method, path, { headers = {}, body } = {}) {
      const whole = caller.query === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${caller.query}`
      const sent = typeof body === 'object' ? JSON.stringify(body) : (body ?? '')
      const all = {
        ...(typeof body === 'object' && { 'content-type': 'application/json' }),
        ...(body !== undefined && { 'content-length': String(Buffer.byteLength(sent)) }),
        ...caller.headers,
        ...headers,
      }
      const { promise, resolve, reject } = Promise.withResolvers<ApiResponse>()
      const options = { hostname, port, agent, method, path: whole, headers: all, timeout: responseTimeoutMs }
      const outgoing = request(options, (incoming) => {
        const { statusCode: status = 0, rawHeaders } = incoming
        text(incoming).then(
          (read) =>
            resolve({
              caller,
              request: `${method} ${path}`,
              status,
              headers: headersByName(rawHeaders),
              text: read,
              json: parsed(read),
            }),
          reject,
        )
      })
      outgoing.on('timeout', () => outgoing.destroy(new Error(`no response to ${method} ${path}`)))
      outgoing.on('error', reject)
      outgoing.end(sent)
      const result = await promise
      responses.push(result)
      return result
    },
  }
}

/** Names and values alternate in `rawHeaders`. */
function headersByName(rawHeaders: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [[name.toLowerCase(), rawHeaders[index + 1] ?? '']] : [])),
  )
}

function parsed(body: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

/** `data` of a response with one resource. */
export function dataOf({
  request,
  status,
  text: body,
  json: { data },
}: ApiResponse): Readonly<Record<string, unknown>> {
  if (typeof data === 'object' && data !== null && !Array.isArray(data)) return { ...data }
  throw new Error(`${request} responded ${status} without data: ${body}`)
}

/** `data` of a list response. */
export function listOf({
  request,
  status,
  text: body,
  json: { data },
}: ApiResponse): readonly Readonly<Record<string, unknown>>[] {
  if (Array.isArray(data)) return data
  throw new Error(`${request} responded ${status} without a list: ${body}`)
}

/** Headers that make a read wait for these writes. */
export function after(...writes: readonly ApiResponse[]): { readonly headers: Readonly<Record<string, string>> } {
  const positions = writes.map(({ headers }) => BigInt(headers['x-event-position'] ?? 0))
  const last = positions.sort((a, b) => Number(b - a))[0]
  return { headers: { 'x-read-after': String(last ?? 0n) } }
}
