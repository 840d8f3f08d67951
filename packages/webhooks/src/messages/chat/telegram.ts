// Telegram: a bot's message in HTML.
import { type ChatAdapter, escapeMarkup } from './chatAdapter.ts'
import { type ChatMessage, chatFields } from './chatMessage.ts'

export const telegram: ChatAdapter = {
  addresses: [{ hosts: ['api.telegram.org'], path: /^\/bot[^/]+\/sendMessage\/?$/i }],
  message: textOf,
  // Only the beginning: the response repeats the message, and may be cut.
  isDelivered: ({ httpStatus, body }) => httpStatus === 200 && /^\s*\{\s*"ok"\s*:\s*true\b/.test(body),
  retryAfter: ['parameters', 'retry_after'],
}

/** Limit: 4096 characters per message, without tags. @param url its query names the chat */
function textOf(message: ChatMessage, url: URL): object {
  const chatId = url.searchParams.get('chat_id')
  // Telegram does not look for mentions, links or commands in code.
  const facts = chatFields(message).map(({ name, text }) => `${name}: <code>${escapeMarkup(text)}</code>`)
  return {
    ...(chatId === null ? {} : { chat_id: chatId }),
    text: [`<b>${message.title}</b>`, ...facts].join('\n'),
    parse_mode: 'HTML',
    link_preview_options: { is_disabled: true },
  }
}
