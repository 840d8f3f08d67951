// Verifies PayPal's notifications with PayPal's verification API.
import { DomainError } from '@paylog/domain/errors'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { withPriority } from '../pacing.ts'
import { ProviderError, type SignedNotification } from '../provider.ts'
import { ErrorResponse } from '../providerApi.ts'
import { withTimeLimit } from '../timeLimit.ts'
import { createPaypalApi, type PaypalApi } from './client.ts'
import { parseNotification } from './fields.ts'

const verificationResult = Compile(
  Type.Object({ verification_status: Type.Union([Type.Literal('SUCCESS'), Type.Literal('FAILURE')]) }),
)

const invalidValue = Compile(Type.Object({ name: Type.Literal('VALIDATION_ERROR') }))

/** Without spaces and commas, because the values of a repeated header are joined by them. */
const singleValue = /^[!-+\x2d-~]{1,500}$/

/** Anyone can trigger verifications, so they are limited and do not share the connections of payments. */
const maxConnections = 16
/** Waiting notifications are limited too: each has up to 1 MiB. */
const maxInFlight = 128
/** PayPal waits for our response, and sends the notification again without one. */
const maxTimeoutMs = 5_000

export type Verifier = {
  /**
   * Sends PayPal one request per webhook id to verify the signature of the notification.
   * @throws DomainError `invalid_signature`, `invalid_request`; ProviderError when PayPal does not respond, and
   *   `unavailable` with `verification_busy` when too many verifications are in flight
   */
  verify(notification: Pick<SignedNotification, 'headers' | 'body'>): Promise<void>
  close(): Promise<void>
}

/** Has its own connections and access tokens. */
export function createVerifier(
  options: Parameters<typeof createPaypalApi>[0] & { readonly webhookIds: readonly string[] },
): Verifier {
  const { webhookIds } = options
  const timeoutMs = Math.min(options.timeoutMs, maxTimeoutMs)
  const api = createPaypalApi({ ...options, timeoutMs, maxConnections, retries: false })
  let inFlight = 0
  return {
    async verify(notification) {
      const send = verificationRequestOf(notification)
      if (inFlight >= maxInFlight)
        throw new ProviderError('unavailable', 'verification_busy', 'Too many notifications are being verified')
      inFlight++
      try {
        await withPriority('notification', () =>
          withTimeLimit(timeoutMs, () => requestVerification(api, webhookIds, send)),
        )
      } finally {
        inFlight--
      }
    },
    close: () => api.close(),
  }
}

type VerificationRequest = { readonly signature: Readonly<Record<string, string>>; readonly text: string }

/** @throws DomainError for a notification that cannot be valid */
function verificationRequestOf({ headers, body }: Pick<SignedNotification, 'headers' | 'body'>): VerificationRequest {
  return { signature: readSignature(headers), text: parseNotification(body).text }
}

/** @throws DomainError `invalid_signature` for a missing or malformed header, or a certificate that is not PayPal's */
export function readSignature(headers: SignedNotification['headers']): VerificationRequest['signature'] {
  return {
    auth_algo: single(headers, 'paypal-auth-algo'),
    cert_url: certificateUrl(single(headers, 'paypal-cert-url')),
    transmission_id: single(headers, 'paypal-transmission-id'),
    transmission_sig: single(headers, 'paypal-transmission-sig'),
    transmission_time: single(headers, 'paypal-transmission-time'),
  }
}

async function requestVerification(
  api: PaypalApi,
  webhookIds: readonly string[],
  { signature, text }: VerificationRequest,
): Promise<void> {
  const results = await Promise.allSettled(
    webhookIds.map((webhook_id) => isSigned(api, { ...signature, webhook_id }, text)),
  )
  if (results.some((result) => result.status === 'fulfilled' && result.value)) return
  for (const result of results) if (result.status === 'rejected') throw result.reason
  throw invalidSignature('PayPal did not confirm this signature')
}

/** @param text the notification as received. It is inserted unchanged, because the signature is over its bytes */
async function isSigned(api: PaypalApi, signature: Readonly<Record<string, string>>, text: string): Promise<boolean> {
  const body = `${JSON.stringify(signature).slice(0, -1)},"webhook_event":${text}}`
  const call = { method: 'POST', path: '/v1/notifications/verify-webhook-signature', body } as const
  try {
    return (await api.request(verificationResult, call)).body.verification_status === 'SUCCESS'
  } catch (error) {
    // PayPal cannot read the signature.
    if (error instanceof ErrorResponse && invalidValue.Check(error.response.body) && error.status === 400) return false
    throw error
  }
}

function single(headers: SignedNotification['headers'], name: string): string {
  const value = headers[name]
  if (typeof value === 'string' && singleValue.test(value)) return value
  throw invalidSignature(`The header ${name} is missing or not valid`)
}

/** Anyone can sign with their own certificate, so it must be one of PayPal's. */
function certificateUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isFromPaypal =
    url?.protocol === 'https:' &&
    (url.hostname === 'paypal.com' || url.hostname.endsWith('.paypal.com')) &&
    url.port === '' &&
    url.username === '' &&
    url.password === ''
  if (isFromPaypal) return text
  throw invalidSignature('The certificate is not from PayPal')
}

function invalidSignature(message: string): DomainError {
  return new DomainError('invalid_signature', message)
}
