// A fake Authorize.Net over HTTP with in-memory state: hosted forms, transactions, batches, profiles and notifications.
import { createServer } from 'node:http'
import type { Test } from 'tap'
import { createChargeLedger, createFaultPlan, deliverEvents, listen } from '../fakeServer.ts'
import { moneyOf } from './balances.ts'
import { merchantOf } from './merchant.ts'
import { methodsOf } from './methods.ts'
import { createEvent, type FakeEvent, signEvent } from './notifications.ts'
import { createProfiles } from './profiles.ts'
import { type AuthorizeNetCall, type FakeServer, respond } from './server.ts'
import { submissionsTo, unsuccessful } from './submissions.ts'
import { createTransactions, type SettlementBatch, type Transaction } from './transactions.ts'

export type FakeAuthorizeNetOptions = {
  readonly byteOrderMark?: boolean
  /** Of the merchant account. */
  readonly currencies?: readonly string[]
  /** For a test that charges twice on purpose. */
  readonly allowDouble?: boolean
}

export type FakeAuthorizeNet = Awaited<ReturnType<typeof startFakeAuthorizeNet>>

const apiLoginId = 'fake-login'
const transactionKey = 'fake-key'
/** 128 hexadecimal digits in upper case, as the merchant interface shows a key. */
const signatureKey = 'A1B2C3D4E5F60718'.repeat(8)

/**
 * Starts a fake that ends with the test. Its methods act as payers and merchants; the API is served over HTTP. The
 * ledger records every charge, and a payment that was charged twice fails the test.
 */
export async function startFakeAuthorizeNet(t: Pick<Test, 'teardown'>, options: FakeAuthorizeNetOptions = {}) {
  const { byteOrderMark = true, currencies = ['USD'], allowDouble = false } = options
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
  const merchant = merchantOf(transactions, createChargeLedger(t, { allowDouble }), notify)
  const calls: AuthorizeNetCall[] = []
  const plannedErrors: FakeServer['plannedErrors'] = []
  const fakeServer: FakeServer = {
    methods: methodsOf(transactions, profiles, { currencies, submit: submissionsTo(transactions, merchant) }),
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
    /** The environment that makes the apps use this fake. */
    env: {
      AUTHORIZE_NET_API_LOGIN_ID: apiLoginId,
      AUTHORIZE_NET_TRANSACTION_KEY: transactionKey,
      AUTHORIZE_NET_SIGNATURE_KEY: signatureKey,
      AUTHORIZE_NET_API_BASE: origin,
      AUTHORIZE_NET_MAX_PER_SECOND: '0',
    },
    /** All received calls, including rejected ones. */
    calls: calls as readonly AuthorizeNetCall[],
    faults: fakeServer.faults,
    readFaults: fakeServer.readFaults,
    transactions: transactions.all as readonly Transaction[],
    batches: transactions.batches as readonly SettlementBatch[],
    /**
     * Customers and their methods. A test can `changeMethod`, `deleteMethod` and `deleteCustomer` as the merchant;
     * changes of methods send `customer.paymentProfile.created`, `.updated` and `.deleted`.
     */
    profiles,
    /** Every notification so far, in order. */
    events: events as readonly FakeEvent[],
    now,
    /** Moves the provider's clock. */
    advance(ms: number) {
      aheadMs += ms
    },
    ...plannedFailures(plannedErrors),
    ...merchant,
    /** All that was captured for an invoice, and all that went back. */
    moneyOf: (invoiceNumber: string) => moneyOf(transactions.all, invoiceNumber),
    /** Sends any other notification, such as `customer.created`. */
    notify,
    signed: (event: Pick<FakeEvent, 'body'>, { key = signatureKey }: { readonly key?: string } = {}) =>
      signEvent(event, key),
    /** Posts all notifications, in order. @returns the response statuses */
    deliver: (url: string) => deliverEvents(url, events, (event) => signEvent(event, signatureKey)),
  }
}

function plannedFailures(plannedErrors: FakeServer['plannedErrors']) {
  return {
    /** Makes the next call fail, or the next call of a method. */
    failNext(
      code: string,
      { text = 'Planned error.', method }: { readonly text?: string; readonly method?: string } = {},
    ) {
      plannedErrors.push({ code, text, method, members: {} })
    },
    /** Makes the next submitted transaction fail with this reason code. */
    failNextTransaction(reasonCode: string, responseCode: 2 | 3 = 3) {
      const { code, message: text, members } = unsuccessful(reasonCode, responseCode)
      plannedErrors.push({ code, text, method: 'createTransaction', members })
    },
  }
}
