// What an endpoint's answer means: delivered or not, and when to come again.
import type { ChatService, WebhookFormat } from './chat/chatServices.ts'
import { isSlackHost, isSlackWorkflow } from './chat/slack.ts'
import { isTeamsConnector } from './chat/teams.ts'

/** What counts as delivered at an endpoint that is no chat service: `WEBHOOK_SUCCESS_STATUS`. */
export type SuccessStatus = '200' | '2xx'

export type EndpointAnswer = {
  readonly httpStatus: number
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The start of the body. */
  readonly body: string
}

const longestPauseMs = 3_600_000

/**
 * Whether the message has arrived. Chat services have success codes of their own; for all others the operator's word holds.
 * @param node its URL says more for some services
 */
export function isDelivered(
  { format, url }: { readonly format: WebhookFormat; readonly url: string },
  answer: EndpointAnswer,
  successStatus: SuccessStatus,
): boolean {
  if (format !== 'json') return delivered[format](answer, new URL(url))
  const { httpStatus } = answer
  return httpStatus === 200 || (successStatus === '2xx' && httpStatus > 200 && httpStatus < 300)
}

/** By each service's documentation; several report failures with status 200. */
const delivered: { readonly [Service in ChatService]: (answer: EndpointAnswer, url: URL) => boolean } = {
  // Others take Slack's messages too, and say with 200 what they like.
  slack: ({ httpStatus, body }, url) => httpStatus === 200 && (!isSlackHost(url) || isSlackConsent(body, url)),
  // 200 when the URL asks for the message with `wait=true`.
  discord: ({ httpStatus }) => httpStatus === 204 || httpStatus === 200,
  // A workflow takes a request on with 202; a connector answers "1", or the text of an error, both with 200.
  teams: ({ httpStatus, body }, url) =>
    isTeamsConnector(url) ? httpStatus === 200 && body.trim() === '1' : httpStatus === 202 || httpStatus === 200,
  'google-chat': ({ httpStatus }) => httpStatus === 200,
  mattermost: ({ httpStatus }) => httpStatus === 200,
  // Only the start: the answer repeats the message, and may be cut.
  telegram: ({ httpStatus, body }) => httpStatus === 200 && /^\s*\{\s*"ok"\s*:\s*true\b/.test(body),
}

/** An incoming webhook says "ok"; a workflow nothing, and a trigger {"ok":true}. */
function isSlackConsent(body: string, url: URL): boolean {
  return isSlackWorkflow(url) ? !/^\s*\{\s*"ok"\s*:\s*false\b/.test(body) : body.trim() === 'ok'
}

/**
 * For how long the endpoint asks to be left alone, in ms, at most an hour; `undefined` when it does not say. What cannot
 * be read, or lies in the past, says nothing. The bodies of Discord and Telegram are more exact than their headers.
 */
export function retryAfterMs(format: WebhookFormat, { headers, body }: EndpointAnswer, now: Date): number | undefined {
  const pauseMs = pauseInBody(format, body) ?? pauseInHeader(headers['retry-after'], now)
  return pauseMs === undefined ? undefined : Math.min(Math.ceil(pauseMs), longestPauseMs)
}

function pauseInBody(format: WebhookFormat, body: string): number | undefined {
  if (format === 'discord') return secondsAsMs(memberOf(readJson(body), 'retry_after'))
  if (format === 'telegram') return secondsAsMs(memberOf(memberOf(readJson(body), 'parameters'), 'retry_after'))
  return undefined
}

function pauseInHeader(header: string | string[] | undefined, now: Date): number | undefined {
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
