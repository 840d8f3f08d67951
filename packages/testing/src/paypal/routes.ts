// Which call of PayPal's API does what.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { FaultPlan } from '../fakeProvider.ts'
import type { FakeRateLimit } from '../rateLimit.ts'
import type { IssuedTokens } from './accessTokens.ts'
import { type FakeResponse, invalidToken, rateLimited, errorResponse, send } from './answers.ts'
import type { ProductStore } from './catalog.ts'
import { parseJson } from './json.ts'
import type { Orders } from './orders.ts'
import type { Plans } from './plans.ts'
import type { RequestIds } from './requestIds.ts'
import type { Signatures } from './signatures.ts'
import type { Vault } from './vault.ts'

export type PaypalCall = {
  readonly method: string
  readonly path: string
  /** The `PayPal-Request-Id`. */
  readonly key: string | undefined
  readonly authorization: string | undefined
  readonly body: string
  /** Whether the whole object was asked for in the answer. */
  readonly isWhole: boolean
}

/** What the fake is made of. */
export type FakePaypalParts = {
  readonly faults: FaultPlan
  readonly readFaults: FaultPlan
  readonly tokenFaults: FaultPlan
  readonly verificationFaults: FaultPlan
  readonly orders: Orders
  readonly vault: Vault
  readonly catalog: ProductStore
  readonly catalogLimit: FakeRateLimit
  readonly plans: Plans
  readonly tokens: IssuedTokens
  readonly requestIds: RequestIds
  readonly signatures: Signatures
}

type ReceivedCall = PaypalCall & { readonly bytes: Buffer }

/** Reads all of a request. */
export async function readCall(request: IncomingMessage): Promise<ReceivedCall> {
  const bytes = await buffer(request)
  const { method = '', url: path = '', headers } = request
  const key = headers['paypal-request-id']
  return {
    method,
    path,
    key: typeof key === 'string' ? key : undefined,
    authorization: headers.authorization,
    body: bytes.toString('utf8'),
    bytes,
    isWhole: headers.prefer === 'return=representation',
  }
}

/** Does what is asked, unless a fault comes first, and answers. */
export function respondToCall(parts: FakePaypalParts, call: ReceivedCall, response: ServerResponse): Promise<void> {
  const write = (answer: FakeResponse) => send(response, answer)
  const { method, path, key, authorization, body } = call
  if (path === '/v1/oauth2/token')
    return parts.tokenFaults.play(response, () => parts.tokens.issue(authorization, body), write)
  if (!parts.tokens.isValid(authorization)) return Promise.resolve(write(invalidToken))
  if (path === '/v1/notifications/verify-webhook-signature')
    return parts.verificationFaults.play(response, () => parts.signatures.verify(call.bytes), write)
  const limited = /^\/v1\/(catalogs|billing)\//.test(path) ? parts.catalogLimit.take() : undefined
  if (limited) return Promise.resolve(write(rateLimited(limited)))
  if (method === 'GET') return parts.readFaults.play(response, () => readResource(parts, call), write)
  if (key !== undefined && key.length > 108) return Promise.resolve(write(errorResponse(400, 'INVALID_STRING_LENGTH')))
  const act = () => parts.requestIds.once(`${method} ${path}`, key, () => changeResource(parts, call))
  return parts.requestIds.exclusively(key, () => parts.faults.play(response, act, write), write)
}

const objects =
  /^\/(v2\/checkout\/orders|v3\/vault\/(?:setup|payment)-tokens|v1\/catalogs\/products|v1\/billing\/plans)\/([^/]+)$/

function readResource(
  { orders, vault, catalog, plans }: FakePaypalParts,
  { path, isWhole }: ReceivedCall,
): FakeResponse {
  const { pathname, searchParams } = new URL(path, 'http://127.0.0.1')
  if (pathname === '/v1/billing/plans') return plans.list(searchParams, isWhole)
  const [, kind, id = ''] = objects.exec(pathname) ?? []
  switch (kind) {
    case 'v2/checkout/orders':
      return orders.show(id)
    case 'v3/vault/setup-tokens':
      return vault.showSetup(id)
    case 'v3/vault/payment-tokens':
      return vault.show(id)
    case 'v1/catalogs/products':
      return catalog.show(id)
    case 'v1/billing/plans':
      return plans.show(id)
    default:
      return errorResponse(404, 'INVALID_RESOURCE_ID')
  }
}

function changeResource(
  { orders, vault, catalog, plans }: FakePaypalParts,
  { method, path, body, isWhole }: ReceivedCall,
): FakeResponse {
  const [, planId, turn] = /^\/v1\/billing\/plans\/([^/]+)(?:\/(activate|deactivate))?$/.exec(path) ?? []
  if (planId !== undefined && turn !== undefined && method === 'POST')
    return turn === 'activate' ? plans.activate(planId) : plans.deactivate(planId)
  const json = parseJson(body)
  const [, orderId] = /^\/v2\/checkout\/orders\/([^/]+)\/capture$/.exec(path) ?? []
  const [, tokenId] = /^\/v3\/vault\/payment-tokens\/([^/]+)$/.exec(path) ?? []
  const [, productId] = /^\/v1\/catalogs\/products\/([^/]+)$/.exec(path) ?? []
  if (method === 'DELETE' && tokenId !== undefined) return vault.detach(tokenId)
  if (json === undefined) return errorResponse(400, 'MALFORMED_REQUEST_JSON')
  if (method === 'PATCH' && productId !== undefined) return catalog.patch(productId, json)
  if (method === 'PATCH' && planId !== undefined) return plans.patch(planId, json)
  if (method !== 'POST') return errorResponse(404, 'INVALID_RESOURCE_ID')
  if (orderId !== undefined) return orders.capture(orderId, isWhole)
  if (path === '/v2/checkout/orders') return orders.create(json, isWhole)
  if (path === '/v3/vault/payment-tokens') return vault.attach(json)
  if (path === '/v1/catalogs/products') return catalog.create(json)
  if (path === '/v1/billing/plans') return plans.create(json, isWhole)
  return errorResponse(404, 'INVALID_RESOURCE_ID')
}
