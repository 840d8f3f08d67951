// A fake PayPal over HTTP with in-memory state: OAuth, orders, vault, catalogue and signed notifications.
import { createServer } from 'node:http'
import type { Test } from 'tap'
import {
  createChargeLedger,
  createFakeRateLimit,
  createFaultPlan,
  deliverEvents,
  type FakeRateLimit,
  type FaultPlan,
  type LedgerCharge,
  listen,
  type SignedEvent,
} from '../fakeServer.ts'
import { type Balance, balanceOf } from './balances.ts'
import type { CaptureOutcome } from './captures.ts'
import { createProductStore, type ProductStore } from './catalog.ts'
import type { PaypalEvent } from './events.ts'
import { createPayerActions, type PayerActions } from './payer.ts'
import { createPaymentStores } from './paymentStores.ts'
import { createPlans, type Plans } from './plans.ts'
import type { RefundOutcome } from './refunds.ts'
import {
  createIssuedTokens,
  createRequestIds,
  type FakePaypalParts,
  type PaypalCall,
  readCall,
  respondToCall,
} from './routes.ts'
import type { Order } from './shownOrder.ts'
import { createSignatures } from './signatures.ts'
import { createFakeVault, type Vault } from './vault.ts'

export type FakePaypal = PayerActions & {
  readonly apiBase: string
  readonly clientId: string
  readonly clientSecret: string
  readonly webhookIds: readonly string[]
  /** The environment that makes the apps use this fake. */
  readonly env: Readonly<Record<string, string>>
  /** All calls, in order. */
  readonly calls: readonly PaypalCall[]
  /** The calls to one path. */
  callsTo(path: RegExp): readonly PaypalCall[]
  /** All successful charges. */
  readonly charges: readonly LedgerCharge[]
  readonly orders: ReadonlyMap<string, Order>
  /** All notifications, including those caused by API calls. */
  readonly events: readonly PaypalEvent[]
  /** For calls that change something. */
  readonly faults: FaultPlan
  readonly readFaults: FaultPlan
  readonly tokenFaults: FaultPlan
  readonly verificationFaults: FaultPlan
  readonly vault: Pick<Vault, 'approveSetup' | 'tokens' | 'remove' | 'change' | 'loseCustomer'>
  readonly catalog: FakeCatalog
  nextCaptures(...outcomes: readonly CaptureOutcome[]): void
  nextRefunds(...outcomes: readonly RefundOutcome[]): void
  /** The next call that changes a payment gets a 422 with this issue, and does nothing. */
  rejectNext(issue: string): void
  /** The money of a payment of ours, in minor units. */
  balanceOf(paymentId: string): Balance
  /** Revokes all access tokens. */
  expireTokens(): void
  /** Forgets all request keys, as PayPal does after some time. */
  forgetRequestIds(): void
  signed(event: Pick<PaypalEvent, 'body'>, webhookId?: string): SignedEvent
  /** Posts the notifications in the given order, `times` times. @returns the response statuses */
  deliver(url: string, events: readonly PaypalEvent[], how?: { readonly times?: number }): Promise<readonly number[]>
}

export type FakeCatalog = Pick<ProductStore, 'products'> & {
  readonly plans: Plans['all']
  readonly addPlan: Plans['add']
  readonly changePlan: Plans['change']
  readonly distortList: Plans['distortList']
  /** For catalogue calls only. */
  readonly limit: Pick<FakeRateLimit, 'set' | 'rejected'>
}

export type FakePaypalOptions = {
  /** The app's webhooks; notifications can be signed for each. */
  readonly webhookIds?: readonly string[]
  readonly tokenLifetimeSeconds?: number
  /** For a test that charges twice on purpose. */
  readonly allowDouble?: boolean
}

/** Starts a fake PayPal that ends with the test. The test fails if a payment was charged twice. */
export async function startFakePaypal(t: Pick<Test, 'teardown'>, options: FakePaypalOptions = {}): Promise<FakePaypal> {
  const { webhookIds = ['8PT597110X687430L'], tokenLifetimeSeconds = 32_400, allowDouble = false } = options
  const clientId = 'AeExampleClientId'
  const clientSecret = 'EExampleClientSecret'
  const ledger = createChargeLedger(t, { allowDouble })
  const events: PaypalEvent[] = []
  const calls: PaypalCall[] = []
  let origin = ''
  const apiBase = () => origin
  const recordEvent = (event: PaypalEvent) => {
    events.push(event)
    return event
  }
  const vault = createFakeVault({ apiBase, recordEvent })
  const stores = createPaymentStores({ ledger, vault, apiBase, recordEvent })
  const catalog = createProductStore()
  const plans = createPlans((id) => catalog.products.has(id))
  const parts: FakePaypalParts = {
    ...stores,
    vault,
    catalog,
    catalogLimit: createFakeRateLimit(),
    plans,
    tokens: createIssuedTokens({ clientId, clientSecret, lifetimeSeconds: tokenLifetimeSeconds }),
    requestIds: createRequestIds(),
    signatures: createSignatures(webhookIds),
    faults: createFaultPlan(),
    readFaults: createFaultPlan(),
    tokenFaults: createFaultPlan(),
    verificationFaults: createFaultPlan(),
    rejections: [],
  }
  const server = createServer((request, response) => {
    readCall(request).then(
      (call) => {
        calls.push(call)
        return respondToCall(parts, call, response)
      },
      () => response.destroy(),
    )
  })
  origin = await listen(t, server)
  const { faults, readFaults, tokenFaults, verificationFaults, signatures } = parts
  return {
    ...createPayerActions({ ...stores, apiBase, recordEvent }),
    apiBase: origin,
    clientId,
    clientSecret,
    webhookIds,
    env: {
      PAYPAL_CLIENT_ID: clientId,
      PAYPAL_CLIENT_SECRET: clientSecret,
      PAYPAL_WEBHOOK_ID: webhookIds.join(','),
      PAYPAL_API_BASE: origin,
      PAYPAL_MAX_PER_SECOND: '0',
    },
    calls,
    callsTo: (path) => calls.filter((call) => path.test(call.path)),
    charges: ledger.charges,
    orders: stores.orders.all,
    events,
    faults,
    readFaults,
    tokenFaults,
    verificationFaults,
    vault,
    catalog: fakeCatalog(parts),
    nextCaptures: stores.captures.nextCaptures,
    rejectNext: (issue) => void parts.rejections.push(issue),
    nextRefunds: stores.refunds.nextRefunds,
    balanceOf: (paymentId) => balanceOf(stores.orders.all.values(), paymentId),
    expireTokens: parts.tokens.expire,
    forgetRequestIds: parts.requestIds.forget,
    signed: signatures.sign,
    deliver: (url, given, { times } = {}) => deliverEvents(url, { events: given, sign: signatures.sign, times }),
  }
}

function fakeCatalog({ catalog, catalogLimit, plans }: FakePaypalParts): FakeCatalog {
  const { all, add, change, distortList } = plans
  return { products: catalog.products, plans: all, addPlan: add, changePlan: change, distortList, limit: catalogLimit }
}
