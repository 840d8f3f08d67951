// A fake PayPal over HTTP with in-memory state: OAuth, orders, vault, catalogue and signed notifications.
import { createServer } from 'node:http'
import type { Test } from 'tap'
import { createChargeLedger, createFakeRateLimit, createFaultPlan, deliverEvents, listen } from '../fakeServer.ts'
import { balanceOf } from './balances.ts'
import { createProductStore } from './catalog.ts'
import type { PaypalEvent } from './events.ts'
import { createPayerActions } from './payer.ts'
import { createPaymentStores } from './paymentStores.ts'
import { createPlans } from './plans.ts'
import {
  createIssuedTokens,
  createRequestIds,
  type FakePaypalParts,
  type PaypalCall,
  readCall,
  respondToCall,
} from './routes.ts'
import { createSignatures } from './signatures.ts'
import { createFakeVault } from './vault.ts'

export type FakePaypal = Awaited<ReturnType<typeof startFakePaypal>>

export type FakePaypalOptions = {
  /** The app's webhooks; notifications can be signed for each. */
  readonly webhookIds?: readonly string[]
  readonly tokenLifetimeSeconds?: number
  /** For a test that charges twice on purpose. */
  readonly allowDouble?: boolean
}

/** Starts a fake PayPal that ends with the test. The test fails if a payment was charged twice. */
export async function startFakePaypal(t: Pick<Test, 'teardown'>, options: FakePaypalOptions = {}) {
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
  const { signatures } = parts
  return {
    ...controlsOf(parts),
    ...createPayerActions({ ...stores, apiBase, recordEvent }),
    apiBase: origin,
    clientId,
    clientSecret,
    webhookIds,
    /** The environment that makes the apps use this fake. */
    env: {
      PAYPAL_CLIENT_ID: clientId,
      PAYPAL_CLIENT_SECRET: clientSecret,
      PAYPAL_WEBHOOK_ID: webhookIds.join(','),
      PAYPAL_API_BASE: origin,
      PAYPAL_MAX_PER_SECOND: '0',
    },
    /** All calls, in order. */
    calls: calls as readonly PaypalCall[],
    /** The calls to one path. */
    callsTo: (path: RegExp) => calls.filter((call) => path.test(call.path)),
    /** All successful charges. */
    charges: ledger.charges,
    /** All notifications, including those caused by API calls. */
    events: events as readonly PaypalEvent[],
    signed: signatures.sign,
    /** Posts all notifications, in order. @returns the response statuses */
    deliver: (url: string) => deliverEvents(url, events, (event) => signatures.sign(event)),
  }
}

function controlsOf(parts: FakePaypalParts) {
  const { orders, captures, refunds, catalog, plans } = parts
  return {
    orders: orders.all,
    /** For calls that change something. */
    faults: parts.faults,
    readFaults: parts.readFaults,
    tokenFaults: parts.tokenFaults,
    verificationFaults: parts.verificationFaults,
    vault: parts.vault,
    catalog: {
      products: catalog.products,
      plans: plans.all,
      addPlan: plans.add,
      changePlan: plans.change,
      distortList: plans.distortList,
      /** For catalogue calls only. */
      limit: parts.catalogLimit,
    },
    nextCaptures: captures.nextCaptures,
    nextRefunds: refunds.nextRefunds,
    /** The next call that changes a payment gets a 422 with this issue, and does nothing. */
    rejectNext: (issue: string) => void parts.rejections.push(issue),
    /** The money of a payment of ours, in minor units. */
    balanceOf: (paymentId: string) => balanceOf(orders.all.values(), paymentId),
    expireTokens: parts.tokens.expire,
    forgetRequestIds: parts.requestIds.forget,
  }
}
