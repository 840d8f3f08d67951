// What an endpoint answers, as far as it is read.
import type { ChatMessage } from './chatMessage.ts'

export type EndpointResponse = {
  readonly httpStatus: number
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The start of the body. */
  readonly body: string
}

// What there is to know of a chat service.

/** All by the service's documentation. The URL is the endpoint's, which says more to some services. */
export type Chat = {
  /** How its endpoints are known; none for one that runs on any host. */
  readonly addresses: readonly ChatAddress[]
  /** The layout of a message. */
  readonly message: (message: ChatMessage, url: URL) => object
  /** Whether the message has arrived; several report failures with status 200. */
  readonly isDelivered: (answer: EndpointResponse, url: URL) => boolean
  /** What in an answer says for how many seconds it wants to be left alone; more exact than the header. */
  readonly retryAfter?: readonly string[]
}

type ChatAddress = {
  /** The host's whole name, or its end, with the dot, for hosts that differ per customer. */
  readonly hosts: readonly string[]
  readonly path: RegExp
}

/**
 * The host is compared as a whole or by its last labels: a part of it proves nothing, since anybody can name a host of his
 * own `hooks.slack.com.example`.
 */
export function isHostOf(hosts: readonly string[], { hostname }: URL): boolean {
  return hosts.some((host) => (host.startsWith('.') ? hostname.endsWith(host) : hostname === host))
}

// The three characters with which Slack (mentions, links) and HTML (tags, entities) tell markup from text.

/** Text that is shown as it is. */
export function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
