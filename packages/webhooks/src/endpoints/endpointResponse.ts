// Interprets an endpoint's response: whether the webhook was delivered, and when to retry.
import type { EndpointResponse } from '../messages/chat/chatAdapter.ts'
import { chatAdapters, type WebhookFormat } from '../messages/chat/chatServices.ts'

/** The statuses that count as delivered, except for chat services: `WEBHOOK_SUCCESS_STATUS`. */
export type SuccessStatus = '200' | '2xx'

const maxRetryAfterMs = 3_600_000

/**
 * Whether the webhook was delivered. Chat services define success themselves.
 * @param successStatus for all other endpoints
 */
export function isDelivered(
  { format, url }: { readonly format: WebhookFormat; readonly url: string },
  response: EndpointResponse,
  successStatus: SuccessStatus,
): boolean {
  if (format !== 'json') return chatAdapters[format].isDelivered(response, new URL(url))
  const { httpStatus } = response
  return httpStatus === 200 || (successStatus === '2xx' && httpStatus > 200 && httpStatus < 300)
}

/**
 * The retry delay that the endpoint requests, in ms, at most an hour; `undefined` without one, or when it is malformed
 * or in the past.
 */
export function retryAfterMs(
  format: WebhookFormat,
  { headers, body }: EndpointResponse,
  now: Date,
): number | undefined {
  const delayMs = delayInBody(format, body) ?? delayInHeader(headers['retry-after'], now)
  return delayMs === undefined ? undefined : Math.min(Math.ceil(delayMs), maxRetryAfterMs)
}

function delayInBody(format: WebhookFormat, body: string): number | undefined {
  const path = format === 'json' ? undefined : chatAdapters[format].retryAfter
  return path && secondsAsMs(path.reduce(memberOf, parseJson(body)))
}

function delayInHeader(header: string | string[] | undefined, now: Date): number | undefined {
  const text = (typeof header === 'string' ? header : header?.[0])?.trim() ?? ''
  if (/^\d+(\.\d+)?$/.test(text)) return secondsAsMs(Number(text))
  const pauseMs = httpDate(text) - now.getTime()
  return pauseMs >= 0 ? pauseMs : undefined
}

/** Parses the three date formats of RFC 9110 §5.6.7. The last one has no time zone and means GMT. */
function httpDate(text: string): number {
  if (/^[A-Z][a-z]{2,8}, .+ GMT$/.test(text)) return Date.parse(text)
  if (/^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4}$/.test(text)) return Date.parse(`${text} GMT`)
  return Number.NaN
}

function secondsAsMs(seconds: unknown): number | undefined {
  return typeof seconds === 'number' && seconds >= 0 ? seconds * 1_000 : undefined
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The response came from another server, or the body was cut.
    return undefined
  }
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
