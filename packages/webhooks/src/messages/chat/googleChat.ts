// Google Chat: a card.
import { type ChatAdapter, escapeMarkup } from './chatAdapter.ts'
import { type ChatMessage, chatFields } from './chatMessage.ts'

export const googleChat: ChatAdapter = {
  addresses: [{ hosts: ['chat.googleapis.com'], path: /^\/v1\/spaces\/[^/]+\/messages\/?$/ }],
  message: cardOf,
  isDelivered: ({ httpStatus }) => httpStatus === 200,
}

/** Limit: 32,000 bytes per message. */
function cardOf(message: ChatMessage): object {
  const widgets = chatFields(message).map(({ name, text }) => ({
    decoratedText: { topLabel: name, text: escapeHtml(text), wrapText: true },
  }))
  const card = { header: { title: message.title }, ...(widgets.length === 0 ? {} : { sections: [{ widgets }] }) }
  return { cardsV2: [{ cardId: '1', card }] }
}

/** Google Chat renders the text of a widget as a subset of HTML. */
function escapeHtml(text: string): string {
  return escapeMarkup(text).replaceAll('"', '&quot;').replaceAll("'", '&#39;')
}
