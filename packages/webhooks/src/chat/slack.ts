// Slack: messages to incoming webhooks, and variables to workflows.
import { type Chat, escapeMarkup, isHostOf } from './chat.ts'
import { type ChatMessage, chatFields, timeText } from './chatMessage.ts'

/** Those that Slack itself answers on. */
const hosts = ['hooks.slack.com', 'hooks.slack-gov.com']

export const slack: Chat = {
  addresses: [{ hosts, path: /^\/(services|workflows|triggers)\/./ }],
  message: (message, url) => (isWorkflow(url) ? workflowVariables(message) : blocksOf(message)),
  // Others take Slack's messages too, and say with 200 what they like.
  isDelivered: ({ httpStatus, body }, url) => httpStatus === 200 && (!isHostOf(hosts, url) || isSuccessBody(body, url)),
}

/** An incoming webhook says "ok"; a workflow nothing, and a trigger {"ok":true}. */
function isSuccessBody(body: string, url: URL): boolean {
  return isWorkflow(url) ? !/^\s*\{\s*"ok"\s*:\s*false\b/.test(body) : body.trim() === 'ok'
}

/** Whether the address starts a workflow instead of posting a message. */
function isWorkflow({ pathname }: URL): boolean {
  return /^\/(workflows|triggers)\//.test(pathname)
}

/**
 * Blocks of plain text, in which nothing is markup but `<!channel>` and its like: mrkdwn has no way to write a literal `*`.
 * Limits are 150 characters of a header, 2000 of a field (docs.slack.dev, Block Kit).
 */
function blocksOf(message: ChatMessage): object {
  const { title, amount } = message
  const fields = chatFields(message).map(({ name, text }) => plainText(`${name}: ${escapeMarkup(text)}`))
  return {
    // What notifications show, and markup unless told otherwise: nothing of strangers in it.
    text: amount === undefined ? title : `${title} ${amount}`,
    mrkdwn: false,
    blocks: [{ type: 'header', text: plainText(title) }, ...(fields.length === 0 ? [] : [{ type: 'section', fields }])],
  }
}

const plainText = (text: string) => ({ type: 'plain_text', text, emoji: false })

/** The same names each time, all text: a workflow refuses what lacks one of its variables. */
function workflowVariables({
  title,
  event,
  amount = '',
  customer = '',
  status = '',
  payment = '',
  time,
  provider = '',
}: ChatMessage) {
  return {
    title,
    event: escapeMarkup(event),
    amount,
    customer: escapeMarkup(customer),
    status: escapeMarkup(status),
    payment: escapeMarkup(payment),
    time: time === undefined ? '' : timeText(time),
    provider: escapeMarkup(provider),
  }
}
