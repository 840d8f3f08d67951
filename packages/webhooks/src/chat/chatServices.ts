// The chat services that have a layout of their own, and how their addresses are known.

export const chatServices = ['slack', 'discord', 'teams', 'google-chat', 'mattermost', 'telegram'] as const
export type ChatService = (typeof chatServices)[number]

/** How messages for an endpoint are written: plain JSON, or the layout of a chat service. */
export type WebhookFormat = 'json' | ChatService

/** The format that an endpoint's host asks for; Mattermost runs on any host and has to be named by the operator. */
export function formatByHost(_url: URL): WebhookFormat {
  return 'json'
}
