// Authorize.Net over HTTP, with its state in memory: hosted forms, transactions, batches, profiles and notifications.
import { createServer } from 'node:http'
import type { Test } from 'tap'
import { createChargeLedger, createFaultPlan, deliverEvents, listen } from '../fakeServer.ts'
import { merchantOf } from './merchant.ts'
import { methodsOf } from './methods.ts'
import { createEvent, type FakeEvent, signEvent } from './notifications.ts'
import { createProfiles } from './profiles.ts'
import { type AuthorizeNetCall, type FakeServer, respond } from './server.ts'
import { createTransactions, type SettlementBatch, type Transaction } from './transactions.ts'

export type FakeAuthorizeNetOptions = {
  readonly apiLoginId?: string
  readonly transactionKey?: string
  readonly signatureKey?: string
  readonly byteOrderMark?: boolean
  /** Of the merchant account. */
  readonly currencies?: readonly string[]
  /** For a test that charges twice on purpose. */
  readonly allowDouble?: boolean
}

export type FakeAuthorizeNet = Awaited<ReturnType<typeof startFakeAuthorizeNet>>

/** Made up; 128 hexadecimal digits in upper case, as the merchant interface shows them. */
const sampleSignatureKey = 'A1B2C3D4E5F60718'.repeat(8)

/**
 * Starts one that goes away with the test. What payers and merchants do is a method here; what the service does comes
 * over HTTP. Every charge stands in the ledger, and a payment that was charged twice fails the test.
 */
export async function startFakeAuthorizeNet(t: Test, options: FakeAuthorizeNetOptions = {}) {
  const {
    apiLoginId = 'fake-login',
    transactionKey = 'fake-key',
    signatureKey = sampleSignatureKey,
    byteOrderMark = true,
    currencies = ['USD'],
    allowDouble = false,
  } = options
  let aheadMs = 0
  const now = () => Date.now() + aheadMs
  const transactions = createTransactions(now)
  const events: FakeEvent[] = []
  const notify = (eventType: string, payload: object) => {
    const event = createEvent(`net.authorize.${eventType}`, payload, now())
    events.push(event)
    return event
  }
  const profiles = createProfiles(notify)
  const calls: AuthorizeNetCall[] = []
  const plannedErrors: FakeServer['plannedErrors'] = []
  const fakeServer: FakeServer = {
    methods: methodsOf(transactions, profiles, currencies),
    login: { name: apiLoginId, transactionKey },
    faults: createFaultPlan(),
    readFaults: createFaultPlan(),
    plannedErrors,
    calls,
    now,
    byteOrderMark,
  }
  const server = createServer((request, response) => {
    respond(fakeServer, request, response).catch(() => response.destroy())
  })
  const origin = await listen(t, server)
  return {
    origin,
    apiLoginId,
    transactionKey,
    signatureKey,
    /** What makes the apps use this fake. */
    env: {
      AUTHORIZE_NET_API_LOGIN_ID: apiLoginId,
      AUTHORIZE_NET_TRANSACTION_KEY: transactionKey,
      AUTHORIZE_NET_SIGNATURE_KEY: signatureKey,
      AUTHORIZE_NET_API_BASE: origin,
      AUTHORIZE_NET_MAX_PER_SECOND: '0',
    },
    /** All calls that came in, refused ones included. */
    calls: calls as readonly AuthorizeNetCall[],
    faults: fakeServer.faults,
    readFaults: fakeServer.readFaults,
    transactions: transactions.all as readonly Transaction[],
    batches: transactions.batches as readonly SettlementBatch[],
    /**
     * Customers and their methods. Besides what the API does, a test can `changeMethod`, `deleteMethod` and
     * `deleteCustomer` as the merchant; the notifications are `customer.paymentProfile.created`, `.updated`, `.deleted`.
     */
    profiles,
    /** Every notification so far, in order. */
    events: events as readonly FakeEvent[],
    now,
    /** Moves the provider's clock. */
    advance(ms: number) {
      aheadMs += ms
    },
    /** The next call is refused, or the next one of a method. */
    failNext(
      code: string,
      { text = 'Refused on order.', method }: { readonly text?: string; readonly method?: string } = {},
    ) {
      plannedErrors.push({ code, text, method })
    },
    ...merchantOf(transactions, createChargeLedger(t, { allowDouble }), notify),
    /** A notification about anything else, `customer.created` for instance. */
    notify,
    signed: (event: Pick<FakeEvent, 'body'>, { key = signatureKey }: { readonly key?: string } = {}) =>
      signEvent(event, key),
    /** Delivers in the order given, all of it `times` times over. @returns the statuses of the answers */
    deliver: (url: string, sent: readonly FakeEvent[] = events, { times }: { readonly times?: number } = {}) =>
      deliverEvents(url, { events: sent, sign: (event) => signEvent(event, signatureKey), times }),
  }
}
