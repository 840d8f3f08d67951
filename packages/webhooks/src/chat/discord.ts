// Discord: one embed.
import type { Chat } from './chat.ts'
import { type ChatMessage, chatFields } from './chatMessage.ts'

const colors = { good: 0x2ecc71, bad: 0xe74c3c, neutral: 0x95a5a6 } as const

export const discord: Chat = {
  addresses: [
    {
      hosts: ['discord.com', 'discordapp.com'].flatMap((host) => [host, `ptb.${host}`, `canary.${host}`]),
      // What follows the token asks for the layout of another service.
      path: /^\/api(\/v\d+)?\/webhooks\/\d+\/[^/]+\/?$/,
    },
  ],
  message: embedOf,
  // 200 when the URL asks for the message with `wait=true`.
  isDelivered: ({ httpStatus }) => httpStatus === 204 || httpStatus === 200,
  retryAfter: ['retry_after'],
}

/** Limits are 256 characters of a title, 1024 of a field's value, 6000 of all (docs.discord.com, embed limits). */
function embedOf(message: ChatMessage): object {
  const { title, tone, time } = message
  return {
    embeds: [
      {
        title,
        color: colors[tone],
        // The time stands below, in the reader's own zone.
        fields: chatFields(message)
          .filter(({ name }) => name !== 'Time')
          .map(({ name, text }) => ({ name, value: escapeDiscord(text), inline: true })),
        ...(time === undefined ? {} : { timestamp: time.toISOString() }),
      },
    ],
    allowed_mentions: { parse: [] },
  }
}

/** A backslash makes punctuation literal; a point only matters behind the number of a list. */
function escapeDiscord(text: string): string {
  return text.replaceAll(/[\\*_~`|<>#[\](){}:]|^[-+]|(?<=^\d+)\.(?=\s|$)/g, String.raw`\$&`)
}
