// Telegram: a bot's message in HTML.
import { type ChatMessage, factsOf } from './chatMessage.ts'
import { escapeMarkup } from './escapeMarkup.ts'

/** A message has at most 4096 characters, tags not counted. @param url its query names the chat */
export function telegramMessage(message: ChatMessage, url: URL): object {
  const chatId = url.searchParams.get('chat_id')
  // In code Telegram finds no mentions, links or commands.
  const facts = factsOf(message).map(({ name, text }) => `${name}: <code>${escapeMarkup(text)}</code>`)
  return {
    ...(chatId === null ? {} : { chat_id: chatId }),
    text: [`<b>${message.title}</b>`, ...facts].join('\n'),
    parse_mode: 'HTML',
    link_preview_options: { is_disabled: true },
  }
}
