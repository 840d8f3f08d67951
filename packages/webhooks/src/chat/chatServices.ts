// The chat services that have a layout of their own.
import { type Chat, isHostOf } from './chat.ts'
import { type ChatNotice, chatMessage } from './chatMessage.ts'
import { discord } from './discord.ts'
import { googleChat } from './googleChat.ts'
import { mattermost } from './mattermost.ts'
import { slack } from './slack.ts'
import { teams } from './teams.ts'
import { telegram } from './telegram.ts'

export const chatServices = ['slack', 'discord', 'teams', 'google-chat', 'mattermost', 'telegram'] as const
export type ChatService = (typeof chatServices)[number]

export const chats: { readonly [Service in ChatService]: Chat } = {
  slack,
  discord,
  teams,
  'google-chat': googleChat,
  mattermost,
  telegram,
}

/** How messages for an endpoint are written: plain JSON, or the layout of a chat service. */
export type WebhookFormat = 'json' | ChatService

/** The format that an endpoint's host and path ask for. */
export function formatByHost(url: URL): WebhookFormat {
  const isOf = (service: ChatService) =>
    chats[service].addresses.some(({ hosts, path }) => isHostOf(hosts, url) && path.test(url.pathname))
  return chatServices.find(isOf) ?? 'json'
}

// The one entrance to the layouts.

/** The body that a chat service shows as a message, as JSON. @param url the endpoint, which says more to some services */
export function chatBody(service: ChatService, chatNotice: ChatNotice, url: URL): string {
  return JSON.stringify(chats[service].message(chatMessage(chatNotice), url))
}
