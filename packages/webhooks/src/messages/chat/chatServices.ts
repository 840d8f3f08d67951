// The supported chat services, and how to recognise and use them.
import type { NamedFacts } from '../webhookFacts.ts'
import { type ChatAdapter, isHostOf } from './chatAdapter.ts'
import { chatMessage } from './chatMessage.ts'
import { discord } from './discord.ts'
import { googleChat } from './googleChat.ts'
import { mattermost } from './mattermost.ts'
import { slack } from './slack.ts'
import { teams } from './teams.ts'
import { telegram } from './telegram.ts'

/** By the value of `WEBHOOK_n_FORMAT`. */
export const chatAdapters = {
  slack,
  discord,
  teams,
  'google-chat': googleChat,
  mattermost,
  telegram,
} satisfies Readonly<Record<string, ChatAdapter>>

export type ChatService = keyof typeof chatAdapters
// The cast names what `keys` loses.
export const chatServices = Object.keys(chatAdapters) as readonly ChatService[]

/** The body format of an endpoint: plain JSON, or that of a chat service. */
export type WebhookFormat = 'json' | ChatService

/** The format for an endpoint's host and path. */
export function formatByHost(url: URL): WebhookFormat {
  const isOf = (service: ChatService) =>
    chatAdapters[service].addresses.some(({ hosts, path }) => isHostOf(hosts, url) && path.test(url.pathname))
  return chatServices.find(isOf) ?? 'json'
}

/** The JSON body for a chat service. @param url the endpoint's URL, which has parameters for some services */
export function chatBody(service: ChatService, facts: NamedFacts, url: URL): string {
  return JSON.stringify(chatAdapters[service].message(chatMessage(facts), url))
}
