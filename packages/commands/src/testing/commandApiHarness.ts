// The write API under test: real event store, real identity backend over HTTP, the sandbox provider, no port.
import type { AppendOutcome } from '@paylog/event-store/append/append'
import { createEventStore } from '@paylog/event-store/eventStore'
import { categories } from '@paylog/event-store/streamName'
import type { EventStoreTiming } from '@paylog/event-store/timing'
import { createIdentity } from '@paylog/identity/identity'
import type { SandboxGuestToken } from '@paylog/identity/sandboxIdentity'
import type { Provider } from '@paylog/providers/provider'
import { createSandbox } from '@paylog/providers/sandbox/sandbox'
import { createCallers } from '@paylog/runtime/http/callers'
import { createHttp } from '@paylog/runtime/http/http'
import type { StartPage } from '@paylog/runtime/http/pages/startPage'
import { createLog } from '@paylog/runtime/telemetry/log'
import { startEventStore, type TestEventStore } from '@paylog/testing/eventStore'
import { startFakeIdentity } from '@paylog/testing/fakeIdentity'
import type { WebhookEndpoint } from '@paylog/webhooks/endpoints/endpoints'
import type { Test } from 'tap'
import { commandApi } from '../commandApi.ts'
import { rememberedGuest } from '../guest-tokens/guestTokens.ts'
import type { PaymentOptions } from '../payments/checkout.ts'

export const adaId = '00000000-0000-4000-8000-000000000001'
export const ada = { 'x-session-id': 'demo-session' }
export const graceId = '00000000-0000-4000-8000-000000000002'
export const grace = { 'x-session-id': 'demo-session-2' }
export const adminId = '00000000-0000-4000-8000-000000000003'
export const admin = { 'x-session-id': 'demo-admin-session' }
export const guestEmail = 'guest@example.com'
export const guest = { 'x-guest-token': 'demo-guest-token' }

/** Of the streams that hold the outcome of requests. */
const outcomes = categories.filter((category) => category !== 'auditTrail').map((category) => `${category}-`)

let keys = 0
/** An idempotency key that is unique in this test file. */
export const freshKey = () => ({ 'idempotency-key': `key-${keys++}` })

export const webhookSecret = 'sandbox-test-secret'
const dayMs = 86_400_000
/** How long an expired guest token is remembered: the default. */
const guestTokenMaxAgeMs = dayMs

/** Longer than the defaults, so that a loaded machine does not look like an outage. */
const relaxedTiming = {
  appendTimeoutMs: 15_000,
  appendRetryTimeoutMs: 30_000,
  readTimeoutMs: 15_000,
  readRetryTimeoutMs: 15_000,
}

export type Headers = Readonly<Record<string, string>>

/** A response with data or an error. */
export type ApiResponse<Data> = {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
  readonly json: object
  readonly data: Data
  readonly error: { readonly code: string; readonly message: string; readonly details?: unknown } | undefined
}

/**
 * @param options `providers` instead of the sandbox; `log` an event store that the test stops, and `timing` with shorter
 *   timeouts for it; `guestTokens` besides the demo guest's; `endpoints` for webhooks, none by default;
 *   `payments` instead of the defaults of the variables; `startPage` off by default
 */
export async function commandApiHarness(
  t: Test,
  options: {
    readonly providers?: readonly Provider[]
    readonly log?: Pick<TestEventStore, 'connectionString' | 'keys'>
    readonly timing?: Partial<EventStoreTiming>
    readonly guestTokens?: readonly SandboxGuestToken[]
    readonly endpoints?: readonly WebhookEndpoint[]
    readonly testsBy?: 'session' | 'admin'
    readonly payments?: Partial<PaymentOptions>
    readonly startPage?: StartPage
  } = {},
) {
  const { timing = {}, guestTokens = [], endpoints = [], testsBy = 'session', startPage = 'off' } = options
  const payments = { expiresAfterMs: dayMs, returnUrlOrigins: [], ...options.payments }
  const [log, backend] = await Promise.all([options.log ?? startEventStore(t), startFakeIdentity(t, { guestTokens })])
  const appends: AppendOutcome[] = []
  const store = createEventStore({
    connectionString: log.connectionString,
    keys: log.keys,
    timing: { ...relaxedTiming, ...timing },
    observe: (append) => void appends.push(append),
  })
  const identity = createIdentity({
    authUrl: backend.authUrl,
    service: 'payments',
    adminUserTypes: ['admin'],
    // Long enough for thirty concurrent requests on a loaded machine.
    timeoutMs: 5_000,
  })
  const enabled = options.providers ?? [createSandbox({ webhookSecrets: [webhookSecret] })]
  const logged: string[] = []
  const app = createHttp({
    log: createLog({ app: 'test', level: 'warn' }, { write: (line) => void logged.push(line) }),
  })
  const time = { now: () => new Date() }
  const providers = new Map(enabled.map((each) => [each.id, each]))
  const workflow = { store, providers, now: () => time.now() }
  const emailOf = rememberedGuest({ store, maxAgeMs: guestTokenMaxAgeMs, now: workflow.now })
  const callers = createCallers(identity.actorOf, identity.actorOrRemembered(emailOf))
  await app.register(commandApi({ workflow, callers, endpoints, testsBy, payments, startPage }))
  await app.ready()
  t.teardown(async () => {
    await app.close()
    await identity.close()
    await store.close()
  })
  const lastPosition = async () => (await store.head())?.commit
  const recorded = () => store.lag(undefined, outcomes)

  return {
    app,
    /** @param body a string as it is, anything else as JSON; none if omitted */
    async send<Data>(method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, headers: Headers, body?: unknown) {
      const response = await app.inject({
        method,
        url,
        headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
        ...(body !== undefined && { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      const { statusCode: status, body: text } = response
      const json = response.json()
      const apiResponse: ApiResponse<Data> = {
        status,
        headers: response.headers,
        text,
        json,
        data: json.data,
        error: json.error,
      }
      return apiResponse
    },
    store,
    /** Every append, with its outcome. */
    appends,
    lastPosition,
    /** Asserts that an action records no event, except in the audit trail. */
    async recordsNothing<Result>(t: Test, act: () => Promise<Result>, name = 'nothing is recorded'): Promise<Result> {
      const before = await recorded()
      const result = await act()
      t.same(await recorded(), before, name)
      return result
    },
    backend,
    time,
    providers,
    workflow,
    /** The logged lines, from level `warn`. */
    logged,
  }
}

/** One character more than most texts allow. */
export const tooLong = 'x'.repeat(256)

/** Asserts a 400 that names these fields without their values. */
export function assertInvalid(
  t: Test,
  { status, error, text }: ApiResponse<unknown>,
  name: string,
  fields?: readonly string[],
): void {
  t.match({ status, error }, { status: 400, error: { code: 'invalid_request', message: /./ } }, name)
  if (fields === undefined) return
  const { fields: reported } = Object(error?.details)
  t.same(
    reported.map((each: { field: string }) => each.field),
    fields,
    `${name}: fields`,
  )
  for (const { message } of reported) t.match(message, /./)
  t.notMatch(text, tooLong)
}
