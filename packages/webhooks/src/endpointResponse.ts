// What an endpoint's answer means: delivered or not, and when to come again.

import type { EndpointResponse } from './chat/chat.ts'
import { chats, type WebhookFormat } from './chat/chatServices.ts'

/** What counts as delivered at an endpoint that is no chat service: `WEBHOOK_SUCCESS_STATUS`. */
export type SuccessStatus = '200' | '2xx'

const maxRetryAfterMs = 3_600_000

/**
 * Whether the message has arrived. Chat services have success codes of their own; for all others the operator's word holds.
 * @param node its URL says more for some services
 */
export function isDelivered(
  { format, url }: { readonly format: WebhookFormat; readonly url: string },
  response: EndpointResponse,
  successStatus: SuccessStatus,
): boolean {
  if (format !== 'json') return chats[format].isDelivered(response, new URL(url))
  const { httpStatus } = response
  return httpStatus === 200 || (successStatus === '2xx' && httpStatus > 200 && httpStatus < 300)
}

/**
 * For how long the endpoint asks to be left alone, in ms, at most an hour; `undefined` when it does not say. What cannot
 * be read, or lies in the past, says nothing.
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
  const path = format === 'json' ? undefined : chats[format].retryAfter
  return path && secondsAsMs(path.reduce(memberOf, readJson(body)))
}

function delayInHeader(header: string | string[] | undefined, now: Date): number | undefined {
  const text = (typeof header === 'string' ? header : header?.[0])?.trim() ?? ''
  if (/^\d+(\.\d+)?$/.test(text)) return secondsAsMs(Number(text))
  const pauseMs = httpDate(text) - now.getTime()
  return pauseMs >= 0 ? pauseMs : undefined
}

/** All three forms of RFC 9110 §5.6.7; the last one names no zone, and is in GMT as the others. */
function httpDate(text: string): number {
  if (/^[A-Z][a-z]{2,8}, .+ GMT$/.test(text)) return Date.parse(text)
  if (/^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4}$/.test(text)) return Date.parse(`${text} GMT`)
  return Number.NaN
}

function secondsAsMs(seconds: unknown): number | undefined {
  return typeof seconds === 'number' && seconds >= 0 ? seconds * 1_000 : undefined
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Some other server answered, or the body was cut.
    return undefined
  }
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
