// Mattermost, and Rocket.Chat, which accepts the same format: a text with one attachment.
import type { ChatAdapter } from './chatAdapter.ts'
import { type ChatMessage, chatFields } from './chatMessage.ts'

const colors = { good: '#2ecc71', bad: '#e74c3c', neutral: '#95a5a6' } as const
const zeroWidthSpace = '\u200b'

export const mattermost: ChatAdapter = {
  // It runs on any host, so the operator has to set the format.
  addresses: [],
  message: attachmentOf,
  isDelivered: ({ httpStatus }) => httpStatus === 200,
}

/** Limit: 16,383 characters per post. */
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
 * Fields are Markdown with mentions. Backslashes and entities escape most of it. Mentions (`@` at the start of a word) and
 * bare URLs cannot be escaped, so we break them up with zero-width spaces. E-mail addresses stay intact.
 */
function escapeMattermost(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/[\\*_~`|>#[\](){}!]|^[-+]|(?<=^\d+)\.(?=\s|$)/g, String.raw`\$&`)
    .replaceAll(/(?<![\p{L}\p{N}])@|:(?=\/\/)|[Ww]{3}(?=\.)/gu, `$&${zeroWidthSpace}`)
}
