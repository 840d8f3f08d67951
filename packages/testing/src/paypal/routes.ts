// The fake's routes, access tokens and request keys.
import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { type FakeRateLimit, type FaultPlan, valueAt } from '../fakeServer.ts'
import type { createProductStore } from './catalog.ts'
import type { createPaymentStores } from './paymentStores.ts'
import type { createPlans } from './plans.ts'
import {
  errorResponse,
  type FakeResponse,
  invalidClient,
  invalidToken,
  missing,
  parseJson,
  rateLimited,
  respondWith,
  send,
} from './responses.ts'
import type { createSignatures } from './signatures.ts'
import type { Vault } from './vault.ts'

export function createIssuedTokens(options: {
  readonly clientId: string
  readonly clientSecret: string
  readonly lifetimeSeconds: number
}) {
  const validUntil = new Map<string, number>()
  const expected = `Basic ${Buffer.from(`${options.clientId}:${options.clientSecret}`).toString('base64')}`
  return {
    issue(authorization: string | undefined, body: string): FakeResponse {
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
    isValid(authorization: string | undefined) {
      const token = authorization?.replace(/^Bearer /, '') ?? ''
      return performance.now() < (validUntil.get(token) ?? 0)
    },
    /** Revokes all tokens. */
    expire: () => validUntil.clear(),
  }
}

/** `PayPal-Request-Id`: a repeated one returns the current state of what the first call created. */
export function createRequestIds() {
  const done = new Map<string, FakeResponse>()
  const working = new Set<string>()
  return {
    /**
     * Executes a call, unless one with the same key has succeeded before.
     * @param operation keys of different operations are independent
     */
    once(operation: string, key: string | undefined, act: () => FakeResponse): FakeResponse {
      if (key === undefined) return act()
      const id = `${operation} ${key}`
      const first = done.get(id)
      if (first) return respondWith(200, first.body)
      const made = act()
      if (made.status < 300) done.set(id, made)
      return made
    },
    /** Runs a call exclusively for its key: a parallel call with the same key is rejected. */
    async exclusively(key: string | undefined, play: () => Promise<void>, reject: (response: FakeResponse) => void) {
      if (key === undefined) return play()
      if (working.has(key)) return reject(errorResponse(409, 'PREVIOUS_REQUEST_IN_PROGRESS'))
      working.add(key)
      try {
        await play()
      } finally {
        working.delete(key)
      }
    },
    /** Forgets all keys, as PayPal does after some time. */
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
export type FakePaypalParts = ReturnType<typeof createPaymentStores> & {
  readonly faults: FaultPlan
  readonly readFaults: FaultPlan
  readonly tokenFaults: FaultPlan
  readonly verificationFaults: FaultPlan
  readonly vault: Vault
  readonly catalog: ReturnType<typeof createProductStore>
  readonly catalogLimit: FakeRateLimit
  readonly plans: ReturnType<typeof createPlans>
  readonly tokens: ReturnType<typeof createIssuedTokens>
  readonly requestIds: ReturnType<typeof createRequestIds>
  readonly signatures: ReturnType<typeof createSignatures>
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
  /^\/(v2\/checkout\/orders|v2\/payments\/captures|v3\/vault\/(?:setup|payment)-tokens|v1\/catalogs\/products|v1\/billing\/plans)\/([^/]+)$/

function readResource({ orders, vault, catalog, plans }: FakePaypalParts, { path, isWhole }: ReceivedCall) {
  const { pathname, searchParams } = new URL(path, 'http://127.0.0.1')
  if (pathname === '/v1/billing/plans') return plans.list(searchParams, isWhole)
  if (pathname === '/v3/vault/payment-tokens') return vault.list(searchParams)
  const [, kind = '', id = ''] = objects.exec(pathname) ?? []
  const show: Readonly<Record<string, (id: string) => FakeResponse>> = {
    'v2/checkout/orders': orders.show,
    'v2/payments/captures': orders.showCapture,
    'v3/vault/setup-tokens': vault.showSetup,
    'v3/vault/payment-tokens': vault.show,
    'v1/catalogs/products': catalog.show,
    'v1/billing/plans': plans.show,
  }
  return show[kind]?.(id) ?? missing
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
  if (method !== 'POST') return missing
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
  const act: Readonly<Record<string, () => FakeResponse>> = {
    'checkout/orders capture': () => orders.pay(id, 'capture', isWhole),
    'checkout/orders authorize': () => orders.pay(id, 'authorize', isWhole),
    'payments/authorizations capture': () => authorizations.capture(id, json),
    'payments/authorizations void': () => authorizations.void(id, isWhole),
    'payments/captures refund': () => refunds.refund(id, json),
  }
  return act[`${kind} ${action}`]?.() ?? missing
}
