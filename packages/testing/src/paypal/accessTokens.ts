// OAuth as PayPal does it: credentials for a token that ends.
import { randomBytes } from 'node:crypto'
import { type FakeResponse, respondWith, invalidClient } from './answers.ts'

export type IssuedTokens = {
  issue(authorization: string | undefined, body: string): FakeResponse
  isValid(authorization: string | undefined): boolean
  /** Withdraws every token there is. */
  expire(): void
}

export function createIssuedTokens(options: {
  readonly clientId: string
  readonly clientSecret: string
  readonly lifetimeSeconds: number
}): IssuedTokens {
  const goodUntil = new Map<string, number>()
  const expected = `Basic ${Buffer.from(`${options.clientId}:${options.clientSecret}`).toString('base64')}`
  return {
    issue(authorization, body) {
      if (authorization !== expected) return invalidClient
      if (new URLSearchParams(body).get('grant_type') !== 'client_credentials')
        return respondWith(400, () => ({ error: 'unsupported_grant_type', error_description: 'Grant Type is NULL' }))
      const access_token = `A21AA${randomBytes(24).toString('base64url')}`
      goodUntil.set(access_token, performance.now() + options.lifetimeSeconds * 1000)
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
      return performance.now() < (goodUntil.get(token) ?? 0)
    },
    expire: () => goodUntil.clear(),
  }
}
