// The fake's routes, access tokens and request keys.
import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { type FakeRateLimit, type FaultPlan, valueAt } from '../fakeServer.ts'
import type { Authorizations } from './authorizations.ts'
import type { ProductStore } from './catalog.ts'
import type { Orders } from './orders.ts'
import type { Plans } from './plans.ts'
import type { Refunds } from './refunds.ts'
import {
  errorResponse,
  type FakeResponse,
  invalidClient,
  invalidToken,
  parseJson,
  rateLimited,
  respondWith,
  send,
} from './responses.ts'
import type { Signatures } from './signatures.ts'
import type { Vault } from './vault.ts'

export type IssuedTokens = {
  issue(authorization: string | undefined, body: string): FakeResponse
  isValid(authorization: string | undefined): boolean
  /** Revokes all tokens. */
  expire(): void
}

export function createIssuedTokens(options: {
  readonly clientId: string
  readonly clientSecret: string
  readonly lifetimeSeconds: number
}): IssuedTokens {
  const validUntil = new Map<string, number>()
  const expected = `Basic ${Buffer.from(`${options.clientId}:${options.clientSecret}`).toString('base64')}`
  return {
    issue(authorization, body) {
      if (authorization !== expected) return invalidClient
      if (new URLSearchParams(body).get('grant_type') !== 'client_credentials')
        return respondWith(400, () => ({ error: 'unsupported_grant_type', error_description: 'Grant Type is NULL' }))
      const access_token = `A21AA${randomBytes(24).toString('base64url')}`
      validUntil.set(access_token, performance.now() + options.lifetimeSeconds * 1000)
      return respondWith(200, () => ({
        scope: 'https://uri.paypal.com/services/payments/payment',
        access_token,
        token_type: 'Bearer',
        app_id: 'APP-80W284485P519543T',
        expires_in: options.lifetimeSeconds,
        nonce: '2026-09-01T10:00:00Z',
      }))
    },
    isValid(authorization) {
      const token = authorization?.replace(/^Bearer /, '') ?? ''
      return performance.now() < (validUntil.get(token) ?? 0)
    },
    expire: () => validUntil.clear(),
  }
}

/** `PayPal-Request-Id`: a repeated one returns the current state of what the first call created. */
export type RequestIds = {
  /**
   * Executes a call, unless one with the same key has succeeded before.
   * @param operation keys of different operations are independent
   */
  once(operation: string, key: string | undefined, act: () => FakeResponse): FakeResponse
  /** Runs a call exclusively for its key: a parallel call with the same key is rejected. */
  exclusively(
    key: string | undefined,
    play: () => Promise<void>,
    reject: (response: FakeResponse) => void,
  ): Promise<void>
  /** Forgets all keys, as PayPal does after some time. */
  forget(): void
}

export function createRequestIds(): RequestIds {
  const done = new Map<string, FakeResponse>()
  const working = new Set<string>()
  return {
    once(operation, key, act) {
      if (key === undefined) return act()
      const id = `${operation} ${key}`
      const first = done.get(id)
      if (first) return respondWith(200, first.body)
      const made = act()
      if (made.status < 300) done.set(id, made)
      return made
    },
    async exclusively(key, play, reject) {
      if (key === undefined) return play()
      if (working.has(key)) return reject(errorResponse(409, 'PREVIOUS_REQUEST_IN_PROGRESS'))
      working.add(key)
      try {
        await play()
      } finally {
        working.delete(key)
      }
    },
    forget: () => done.clear(),
  }
}

export type PaypalCall = {
  readonly method: string
  readonly path: string
  /** The `PayPal-Request-Id`. */
  readonly key: string | undefined
  readonly authorization: string | undefined
  readonly body: string
  /** Whether the call has `Prefer: return=representation`. */
  readonly isWhole: boolean
}

/** The parts of the fake. */
export type FakePaypalParts = {
  readonly faults: FaultPlan
  readonly readFaults: FaultPlan
  readonly tokenFaults: FaultPlan
  readonly verificationFaults: FaultPlan
  readonly orders: Orders
  readonly authorizations: Authorizations
  readonly refunds: Refunds
  readonly vault: Vault
  readonly catalog: ProductStore
  readonly catalogLimit: FakeRateLimit
  readonly plans: Plans
  readonly tokens: IssuedTokens
  readonly requestIds: RequestIds
  readonly signatures: Signatures
  /** The issues that the next calls are rejected with, one each. */
  readonly rejections: string[]
}

type ReceivedCall = PaypalCall & { readonly bytes: Buffer }

/** Reads a whole request. */
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

/** Executes a call with its fault, if any, and responds. */
export function respondToCall(parts: FakePaypalParts, call: ReceivedCall, response: ServerResponse): Promise<void> {
  const write = (result: FakeResponse) => send(response, result)
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
  /^\/(v2\/checkout\/orders|v2\/payments\/(?:captures|authorizations|refunds)|v3\/vault\/(?:setup|payment)-tokens|v1\/catalogs\/products|v1\/billing\/plans)\/([^/]+)$/

function readResource(
  { orders, authorizations, refunds, vault, catalog, plans }: FakePaypalParts,
  { path, isWhole }: ReceivedCall,
): FakeResponse {
  const { pathname, searchParams } = new URL(path, 'http://127.0.0.1')
  if (pathname === '/v1/billing/plans') return plans.list(searchParams, isWhole)
  if (pathname === '/v3/vault/payment-tokens') return vault.list(searchParams)
  const [, kind, id = ''] = objects.exec(pathname) ?? []
  switch (kind) {
    case 'v2/checkout/orders':
      return orders.show(id)
    case 'v2/payments/captures':
      return orders.showCapture(id)
    case 'v2/payments/authorizations':
      return authorizations.show(id)
    case 'v2/payments/refunds':
      return refunds.show(id)
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

const paymentAction =
  /^\/v2\/(checkout\/orders|payments\/authorizations|payments\/captures)\/([^/]+)\/(capture|authorize|void|refund)$/

function changeResource(parts: FakePaypalParts, call: ReceivedCall): FakeResponse {
  const { vault, catalog, plans } = parts
  const { method, path, body, isWhole, key } = call
  const [, planId, action] = /^\/v1\/billing\/plans\/([^/]+)(?:\/(activate|deactivate))?$/.exec(path) ?? []
  if (planId !== undefined && action !== undefined && method === 'POST')
    return action === 'activate' ? plans.activate(planId) : plans.deactivate(planId)
  const json = parseJson(body)
  const [, tokenId] = /^\/v3\/vault\/payment-tokens\/([^/]+)$/.exec(path) ?? []
  const [, productId] = /^\/v1\/catalogs\/products\/([^/]+)$/.exec(path) ?? []
  if (method === 'DELETE' && tokenId !== undefined) return vault.detach(tokenId)
  if (json === undefined) return errorResponse(400, 'MALFORMED_REQUEST_JSON')
  if (method === 'PATCH' && productId !== undefined) return catalog.patch(productId, json)
  if (method === 'PATCH' && planId !== undefined) return plans.patch(planId, json)
  if (method !== 'POST') return errorResponse(404, 'INVALID_RESOURCE_ID')
  const issue = path.startsWith('/v2/') ? parts.rejections.shift() : undefined
  if (issue) return errorResponse(422, issue)
  if (path === '/v2/checkout/orders') {
    const needsKey = valueAt(json, 'payment_source') !== undefined && key === undefined
    return needsKey ? errorResponse(400, 'PAYPAL_REQUEST_ID_REQUIRED') : parts.orders.create(json, isWhole)
  }
  if (path === '/v3/vault/payment-tokens') return vault.attach(json)
  if (path === '/v1/catalogs/products') return catalog.create(json)
  if (path === '/v1/billing/plans') return plans.create(json, isWhole)
  return changePayment(parts, call, json)
}

function changePayment(
  { orders, authorizations, refunds }: FakePaypalParts,
  { path, isWhole }: ReceivedCall,
  json: unknown,
) {
  const [, kind = '', id = '', action = ''] = paymentAction.exec(path) ?? []
  switch (`${kind} ${action}`) {
    case 'checkout/orders capture':
      return orders.pay(id, 'capture', isWhole)
    case 'checkout/orders authorize':
      return orders.pay(id, 'authorize', isWhole)
    case 'payments/authorizations capture':
      return authorizations.capture(id, json)
    case 'payments/authorizations void':
      return authorizations.void(id, isWhole)
    case 'payments/captures refund':
      return refunds.refund(id, json)
    default:
      return errorResponse(404, 'INVALID_RESOURCE_ID')
  }
}
