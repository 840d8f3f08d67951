// PayPal as a real HTTP server that keeps its state in memory: OAuth, orders, vault, catalogue and signed notifications.
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
import { createProductStore, type ProductStore } from './catalog.ts'
import type { PaypalEvent } from './events.ts'
import { type CaptureOutcome, createOrders, type Order } from './orders.ts'
import { captureEvents, createPayerActions, type PayerActions } from './payer.ts'
import { createPlans, type Plans } from './plans.ts'
import {
  createIssuedTokens,
  createRequestIds,
  type FakePaypalParts,
  type PaypalCall,
  readCall,
  respondToCall,
} from './routes.ts'
import { createSignatures } from './signatures.ts'
import { createFakeVault, type Vault } from './vault.ts'

export type FakePaypal = PayerActions & {
  readonly apiBase: string
  readonly clientId: string
  readonly clientSecret: string
  readonly webhookIds: readonly string[]
  /** What makes the apps use this fake. */
  readonly env: Readonly<Record<string, string>>
  /** Everything that was asked, in order. */
  readonly calls: readonly PaypalCall[]
  /** The calls to one path. */
  callsTo(path: RegExp): readonly PaypalCall[]
  /** The money that was taken. */
  readonly charges: readonly LedgerCharge[]
  readonly orders: ReadonlyMap<string, Order>
  /** All notifications that PayPal has made, also of what the API was asked to do. */
  readonly events: readonly PaypalEvent[]
  /** For calls that change something. */
  readonly faults: FaultPlan
  readonly readFaults: FaultPlan
  readonly tokenFaults: FaultPlan
  readonly verificationFaults: FaultPlan
  readonly vault: Pick<Vault, 'approveSetup' | 'tokens' | 'remove' | 'change' | 'loseCustomer'>
  readonly catalog: FakeCatalog
  nextCaptures(...outcomes: readonly CaptureOutcome[]): void
  /** Withdraws all access tokens. */
  expireTokens(): void
  /** As if the time had passed for which PayPal stores the keys of requests. */
  forgetRequestIds(): void
  signed(event: Pick<PaypalEvent, 'body'>, webhookId?: string): SignedEvent
  /** Delivers in the order given, all of it `times` times over. @returns the statuses of the answers */
  deliver(url: string, events: readonly PaypalEvent[], how?: { readonly times?: number }): Promise<readonly number[]>
}

export type FakeCatalog = Pick<ProductStore, 'products'> & {
  readonly plans: Plans['all']
  readonly addPlan: Plans['add']
  readonly changePlan: Plans['change']
  readonly distortList: Plans['distortList']
  /** Of its calls alone. */
  readonly limit: Pick<FakeRateLimit, 'set' | 'rejected'>
}

export type FakePaypalOptions = {
  /** Of the app, all of which it may sign with. */
  readonly webhookIds?: readonly string[]
  readonly tokenLifetimeSeconds?: number
  /** For a test that charges twice on purpose. */
  readonly allowDouble?: boolean
}

/** Starts a PayPal of its own for a test; it ends with the test, which fails if a payment was charged twice. */
export async function startFakePaypal(t: Test, options: FakePaypalOptions = {}): Promise<FakePaypal> {
  const { webhookIds = ['8PT597110X687430L'], tokenLifetimeSeconds = 32_400, allowDouble = false } = options
  const clientId = 'AeExampleClientId'
  const clientSecret = 'EExampleClientSecret'
  const ledger = createChargeLedger(t, { allowDouble })
  const events: PaypalEvent[] = []
  const calls: PaypalCall[] = []
  let origin = ''
  const apiBase = () => origin
  const made = (event: PaypalEvent) => {
    events.push(event)
    return event
  }
  const orders = createOrders({
    ledger,
    apiBase,
    onCapture: (order, capture) => void events.push(...captureEvents(order, capture, origin)),
  })
  const catalog = createProductStore()
  const plans = createPlans((id) => catalog.products.has(id))
  const parts: FakePaypalParts = {
    orders,
    vault: createFakeVault({ apiBase, recordEvent: made }),
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
  const { faults, readFaults, tokenFaults, verificationFaults, vault, signatures } = parts
  return {
    ...createPayerActions({ orders, apiBase, recordEvent: made }),
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
    orders: orders.all,
    events,
    faults,
    readFaults,
    tokenFaults,
    verificationFaults,
    vault,
    catalog: fakeCatalog(parts),
    nextCaptures: orders.nextCaptures,
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
