// The interface of a chat service: its URLs, its message format and its responses.
import type { ChatMessage } from './chatMessage.ts'

export type EndpointResponse = {
  readonly httpStatus: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The beginning of the body. */
  readonly body: string
}

/** One chat service. Every `url` is the URL of the endpoint, which has parameters for some services. */
export type ChatAdapter = {
  /** The URLs of its endpoints; empty for a service that runs on any host. */
  readonly addresses: readonly ChatAddress[]
  /** Builds the body of a message. */
  readonly message: (message: ChatMessage, url: URL) => object
  /** Whether the message was delivered. Several services report failures with status 200. */
  readonly isDelivered: (response: EndpointResponse, url: URL) => boolean
  /** Path to the retry delay in seconds in a response body; more exact than the Retry-After header. */
  readonly retryAfter?: readonly string[]
}

type ChatAddress = {
  /** The host name, or its end with a leading dot if hosts differ per customer. */
  readonly hosts: readonly string[]
  readonly path: RegExp
}

/**
 * Compares the whole host name or its last labels. Comparing any other part would be unsafe: anyone can own
 * `hooks.slack.com.example`.
 */
export function isHostOf(hosts: readonly string[], { hostname }: URL): boolean {
  return hosts.some((host) => (host.startsWith('.') ? hostname.endsWith(host) : hostname === host))
}

/** Escapes the three characters that begin markup in Slack (mentions, links) and in HTML (tags, entities). */
export function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
