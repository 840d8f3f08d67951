// The one entrance to the layouts.
import { type ChatMessage, chatMessage } from './chatMessage.ts'
import type { ChatService } from './chatServices.ts'
import { discordMessage } from './discord.ts'
import { googleChatMessage } from './googleChat.ts'
import { mattermostMessage } from './mattermost.ts'
import type { Notice } from './notice.ts'
import { slackMessage } from './slack.ts'
import { teamsMessage } from './teams.ts'
import { telegramMessage } from './telegram.ts'

const layouts: { readonly [Service in ChatService]: (message: ChatMessage, url: URL) => object } = {
  slack: slackMessage,
  discord: discordMessage,
  teams: teamsMessage,
  'google-chat': googleChatMessage,
  mattermost: mattermostMessage,
  telegram: telegramMessage,
}

/** The body that a chat service shows as a message, as JSON. @param url the endpoint, which says more to some services */
export function chatBody(service: ChatService, notice: Notice, url: URL): string {
  return JSON.stringify(layouts[service](chatMessage(notice), url))
}
