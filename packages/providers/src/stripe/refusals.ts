// What Stripe's refusals mean for us. https://docs.stripe.com/api/errors
import Stripe from 'stripe'
import { rateLimitIn } from '../answers.ts'
import { ProviderError, type ProviderErrorKind } from '../provider.ts'

/** The messages are ours: Stripe's own may repeat what was sent. */
const messages: Readonly<Record<ProviderErrorKind, string>> = {
  declined: 'The payment was declined',
  rejected: 'The provider does not accept this request',
  currency: 'The provider does not take this amount in this currency',
  unavailable: 'The provider does not take requests at the moment',
  unknown: 'The provider did not say what it did',
}

/** What Stripe accepts and we do not, in the words of what it does not accept. */
export function rejected(code: string): ProviderError {
  return new ProviderError('rejected', code, messages.rejected)
}

/** @returns what a failed call of the `stripe` package means; anything else that was thrown as it is */
export function toProviderError(error: unknown): unknown {
  if (!(error instanceof Stripe.errors.StripeError)) return error
  const cause = error.detail instanceof Error ? error.detail.cause : undefined
  if (cause instanceof ProviderError) return cause
  const kind = kindOf(error)
  const rateLimit = isTooMany(error) ? rateLimitIn({ 'retry-after': error.headers?.['retry-after'] }) : null
  const message = kind === 'unavailable' ? unavailableMessage(error.statusCode) : messages[kind]
  return new ProviderError(kind, codeOf(error), message, { cause: causeOf(error), rateLimit })
}

/** Waiting helps against one of the reasons, and only the operator against the other. */
export function unavailableMessage(status: number | undefined): string {
  return status === 401 || status === 403 ? 'The provider refuses our credentials' : messages.unavailable
}

/** Too many requests at once, or about one object: https://docs.stripe.com/rate-limits */
function isTooMany({ statusCode, code }: Stripe.errors.StripeError): boolean {
  return statusCode === 429 || code === 'rate_limit'
}

function kindOf(error: Stripe.errors.StripeError): ProviderErrorKind {
  const { statusCode, rawType } = error
  if (isUnavailable(statusCode) || isTooMany(error)) return 'unavailable'
  if (statusCode === 402 || (rawType === 'card_error' && statusCode === 400)) return 'declined'
  if (rawType === 'invalid_request_error' && (statusCode === 400 || statusCode === 404))
    return isAboutCurrency(error) ? 'currency' : 'rejected'
  // 5xx; 409, while the first call with the key is still at work; a key that came with other parameters before, so that
  // what it did is not what was asked for now; and whatever comes some day.
  return 'unknown'
}

/** The answers that come before anything is done: the credentials are refused, or there are too many requests. */
export function isUnavailable(status: number | undefined): boolean {
  return status === 401 || status === 403 || status === 429
}

/** Whether Stripe says that the request is wrong. */
export function isInvalidRequest(error: unknown): boolean {
  return error instanceof Stripe.errors.StripeInvalidRequestError
}

/** Whether Stripe does not know an object that a request named; with `param`, the one that stood there. */
export function isMissing(error: unknown, param?: string): boolean {
  return (
    error instanceof Stripe.errors.StripeInvalidRequestError &&
    error.code === 'resource_missing' &&
    (param === undefined || error.param === param)
  )
}

/** Whether Stripe has an object already with the id that was chosen for a new one. */
export function isAlreadyExisting(error: unknown): boolean {
  return error instanceof Stripe.errors.StripeInvalidRequestError && error.code === 'resource_already_exists'
}

function isAboutCurrency({ code, param }: Stripe.errors.StripeError): boolean {
  return param === 'currency' || code === 'amount_too_small' || code === 'amount_too_large'
}

const machineWord = /^[a-z0-9_]{1,64}$/

/** The bank's own code, where it was the bank that said no. */
function codeOf({ decline_code, code, rawType, statusCode }: Stripe.errors.StripeError): string {
  const words = [decline_code, code, rawType].filter((word) => word !== undefined && machineWord.test(word))
  return words[0] ?? `http_${statusCode}`
}

/** What an operator needs to find the request in Stripe's own log, without the text, which may hold data. */
function causeOf(error: Stripe.errors.StripeError): Error {
  return new Error(`Stripe answered ${error.statusCode}, ${codeOf(error)}, to request ${error.requestId}`)
}
