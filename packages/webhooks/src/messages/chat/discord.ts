// Discord: one embed.
import type { ChatAdapter } from './chatAdapter.ts'
import { type ChatMessage, chatFields } from './chatMessage.ts'

const colors = { good: 0x2ecc71, bad: 0xe74c3c, neutral: 0x95a5a6 } as const

export const discord: ChatAdapter = {
  addresses: [
    {
      hosts: ['discord.com', 'discordapp.com'].flatMap((host) => [host, `ptb.${host}`, `canary.${host}`]),
      // A path after the token, such as /slack, selects another service's format.
      path: /^\/api(\/v\d+)?\/webhooks\/\d+\/[^/]+\/?$/,
    },
  ],
  message: embedOf,
  // 200 if the URL has `wait=true`.
  isDelivered: ({ httpStatus }) => httpStatus === 204 || httpStatus === 200,
  retryAfter: ['retry_after'],
}

/** Limits: 256 characters for a title, 1024 for a field value, 6000 in total (docs.discord.com, embed limits). */
function embedOf(message: ChatMessage): object {
  const { title, tone, time } = message
  return {
    embeds: [
      {
        title,
        color: colors[tone],
        // `timestamp` shows the time in the reader's time zone.
        fields: chatFields(message)
          .filter(({ name }) => name !== 'Time')
          .map(({ name, text }) => ({ name, value: escapeDiscord(text), inline: true })),
        ...(time === undefined ? {} : { timestamp: time.toISOString() }),
      },
    ],
    allowed_mentions: { parse: [] },
  }
}

/** A backslash escapes punctuation. A point is only special after the number of a list item. */
function escapeDiscord(text: string): string {
  return text.replaceAll(/[\\*_~`|<>#[\](){}:]|^[-+]|(?<=^\d+)\.(?=\s|$)/g, String.raw`\$&`)
}
