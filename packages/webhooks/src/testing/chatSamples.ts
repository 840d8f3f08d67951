// What the tests of all chat services need to know of each.
import type { ChatService } from '../messages/chat/chatServices.ts'

type ChatSample = {
  /** Of an endpoint. */
  readonly url: string
  /** The size limit of a body. */
  readonly maxBytes: number
}

export const chatSamples: { readonly [Service in ChatService]: ChatSample } = {
  slack: { url: 'https://hooks.slack.com/services/T0/B0/abc', maxBytes: 40_000 },
  discord: { url: 'https://discord.com/api/webhooks/1/abc', maxBytes: 40_000 },
  teams: { url: 'https://a.environment.api.powerplatform.com/powerautomate/1', maxBytes: 28 * 1024 },
  'google-chat': { url: 'https://chat.googleapis.com/v1/spaces/AAA/messages?key=1', maxBytes: 32_000 },
  mattermost: { url: 'https://chat.example.com/hooks/abc', maxBytes: 16_383 },
  telegram: { url: 'https://api.telegram.org/bot1:abc/sendMessage?chat_id=-1001', maxBytes: 40_000 },
}
