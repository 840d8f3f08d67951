// Options of a new payment for the payer's visit to the provider: where it ends, what the statement shows, until when.
import { DomainError } from '@paylog/domain/errors'
import { CaptureMethod } from '@paylog/domain/payments/events'
import type { Provider } from '@paylog/providers/provider'
import { isLoopback } from '@paylog/runtime/http/networks'
import { type FieldProblem, invalidInput } from '@paylog/runtime/http/validation'
import { type Static, Type } from 'typebox'

export type PaymentOptions = {
  /** How long after its creation an unpaid payment is canceled; 0 for never. */
  readonly expiresAfterMs: number
  /** The origins of `return_url` and `cancel_url`; empty for any. */
  readonly returnUrlOrigins: readonly string[]
}

const maxUrlLength = 2_000

/** Without white space and backslashes, which URL parsers read differently. */
const pageUrl = (description: string) =>
  Type.Optional(
    Type.String({
      pattern: '^https?://[^\\s\\\\]+$',
      maxLength: maxUrlLength,
      description: `${description}. An https URL, or http on loopback`,
    }),
  )

/** The fields of the body. */
export const checkoutFields = {
  capture_method: Type.Optional(
    Type.With(CaptureMethod, {
      description: 'With manual the money is authorized first, and an administrator captures it; automatic by default',
    }),
  ),
  return_url: pageUrl("Where the provider's page sends the payer after the payment"),
  cancel_url: pageUrl("Where the provider's page sends a payer who does not pay"),
  statement_descriptor: Type.Optional(
    Type.String({
      // The characters that Stripe rejects, and control characters.
      // https://docs.stripe.com/get-started/account/statement-descriptors
      pattern: '^[^<>\\\\\'"*\\x00-\\x1f\\x7f]*$',
      minLength: 5,
      maxLength: 22,
      description: 'What the payer sees on the statement, where the provider allows it',
    }),
  ),
}
const CheckoutBody = Type.Object(checkoutFields)
type CheckoutBody = Static<typeof CheckoutBody>

/**
 * The fields of the command.
 * @throws DomainError `invalid_request` for a URL that is not allowed
 */
export function checkoutOf(body: CheckoutBody, occurred_at: string, options: PaymentOptions) {
  const { capture_method = 'automatic', return_url, cancel_url, statement_descriptor } = body
  const problems = Object.entries({ return_url, cancel_url }).flatMap(([field, url]) =>
    url === undefined ? [] : urlProblems(field, url, options.returnUrlOrigins),
  )
  if (problems.length > 0) throw invalidInput('body', problems)
  const { expiresAfterMs } = options
  return {
    capture_method,
    return_url: return_url ?? null,
    cancel_url: cancel_url ?? null,
    statement_descriptor: statement_descriptor ?? null,
    expires_at: expiresAfterMs === 0 ? null : new Date(Date.parse(occurred_at) + expiresAfterMs).toISOString(),
  }
}

function urlProblems(field: string, text: string, origins: readonly string[]): FieldProblem[] {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isSafe = url?.protocol === 'https:' || (url !== undefined && isLoopback(url.hostname))
  // A user name makes a URL look like one of another host.
  if (!isSafe || url.username !== '' || url.password !== '')
    return [{ field, message: 'must be an https URL, or http on loopback' }]
  if (origins.length > 0 && !origins.includes(url.origin)) return [{ field, message: 'must be of an allowed origin' }]
  return []
}

/**
 * @param providers the enabled ones
 * @throws DomainError `capture_method_not_supported`
 */
export function requireCaptureMethod(
  captureMethod: CaptureMethod,
  { id, captureAuthorized }: Provider,
  providers: ReadonlyMap<string, Provider>,
): void {
  if (captureMethod === 'automatic' || captureAuthorized) return
  throw new DomainError('capture_method_not_supported', `${id} cannot authorize a payment and capture it later`, {
    enabled: [...providers.values()].filter((provider) => provider.captureAuthorized).map((provider) => provider.id),
  })
}
