// Tokens of the hosted payment form: they charge nothing, and are forgotten after 15 minutes.
import { randomBytes } from 'node:crypto'

/** What a token was asked for. */
export type HostedRequest = {
  readonly invoiceNumber: string | null
  readonly amountCents: number
  readonly currency: string
  readonly duplicateWindowSeconds: number | null
}

/** Whoever has a token can pay; a merchant can also charge without one. */
export type ChargeSource =
  | { readonly token: string }
  | { readonly invoiceNumber: string | null; readonly amount_cents: number }

const tokenLifeMs = 15 * 60 * 1000

export function createHostedTokens(now: () => number) {
  const tokens = new Map<string, HostedRequest & { readonly expiresAt: number }>()
  return {
    create(request: HostedRequest): string {
      const token = randomBytes(48).toString('base64')
      tokens.set(token, { ...request, expiresAt: now() + tokenLifeMs })
      return token
    },

    /** @throws when the token is none, or too old */
    requestOf(source: ChargeSource): HostedRequest {
      if (!('token' in source)) {
        const { invoiceNumber, amount_cents: amountCents } = source
        return { invoiceNumber, amountCents, currency: 'USD', duplicateWindowSeconds: null }
      }
      const found = tokens.get(source.token)
      if (!found || found.expiresAt < now()) throw new Error('The form does not open: the token is not valid')
      return found
    },
  }
}
