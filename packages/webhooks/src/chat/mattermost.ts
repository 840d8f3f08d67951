// Mattermost, and Rocket.Chat, which takes the same: a text with one attachment.
import type { Chat } from './chat.ts'
import { type ChatMessage, chatFields } from './chatMessage.ts'

const colors = { good: '#2ecc71', bad: '#e74c3c', neutral: '#95a5a6' } as const
const zeroWidthSpace = '\u200b'

export const mattermost: Chat = {
  // It runs on any host, and has to be named by the operator.
  addresses: [],
  message: attachmentOf,
  isDelivered: ({ httpStatus }) => httpStatus === 200,
}

/** A post has at most 16 383 characters. */
function attachmentOf(message: ChatMessage): object {
  const { title, tone, amount } = message
  const fields = chatFields(message).map(({ name, text }) => ({
    title: name,
    value: escapeMattermost(text),
    short: true,
  }))
  const fallback = amount === undefined ? title : `${title} ${amount}`
  return { text: title, attachments: [{ fallback, color: colors[tone], fields }] }
}

/**
 * Fields are Markdown with mentions. What a backslash or an entity makes literal is written so; a mention, told by its
 * `@` at the beginning of a word, and a bare address have no escape, so that they are taken apart where nobody sees it.
 * E-mail addresses stay whole.
 */
function escapeMattermost(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/[\\*_~`|>#[\](){}!]|^[-+]|(?<=^\d+)\.(?=\s|$)/g, String.raw`\$&`)
    .replaceAll(/(?<![\p{L}\p{N}])@|:(?=\/\/)|[Ww]{3}(?=\.)/gu, `$&${zeroWidthSpace}`)
}
