// Slack: messages for incoming webhooks, and variables for workflows.
import { type ChatAdapter, escapeMarkup, isHostOf } from './chatAdapter.ts'
import { timeText } from './chatDetails.ts'
import { type ChatMessage, chatFields } from './chatMessage.ts'

/** Slack's own hosts. */
const hosts = ['hooks.slack.com', 'hooks.slack-gov.com']

export const slack: ChatAdapter = {
  addresses: [{ hosts, path: /^\/(services|workflows|triggers)\/./ }],
  message: (message, url) => (isWorkflow(url) ? workflowVariables(message) : blocksOf(message)),
  // Other servers accept Slack's format too, with any body in their 200 response.
  isDelivered: ({ httpStatus, body }, url) => httpStatus === 200 && (!isHostOf(hosts, url) || isSuccessBody(body, url)),
}

/** An incoming webhook responds with `ok`, a workflow with an empty body, a trigger with {"ok":true}. */
function isSuccessBody(body: string, url: URL): boolean {
  return isWorkflow(url) ? !/^\s*\{\s*"ok"\s*:\s*false\b/.test(body) : body.trim() === 'ok'
}

/** Whether the URL starts a workflow instead of posting a message. */
function isWorkflow({ pathname }: URL): boolean {
  return /^\/(workflows|triggers)\//.test(pathname)
}

/**
 * Blocks of plain text, where only `<!channel>` and similar are markup. We cannot use mrkdwn: it cannot escape `*`.
 * Limits: 150 characters for a header, 2000 for a field (docs.slack.dev, Block Kit).
 */
function blocksOf(message: ChatMessage): object {
  const { title, amount } = message
  const fields = chatFields(message).map(({ name, text }) => plainText(`${name}: ${escapeMarkup(text)}`))
  return {
    // Shown in notifications, where it may be rendered as markup: no untrusted text here.
    text: amount === undefined ? title : `${title} ${amount}`,
    mrkdwn: false,
    blocks: [{ type: 'header', text: plainText(title) }, ...(fields.length === 0 ? [] : [{ type: 'section', fields }])],
  }
}

const plainText = (text: string) => ({ type: 'plain_text', text, emoji: false })

/**
 * Always the same variables, all of them strings: a workflow rejects a request that lacks one. Workflows that exist do not know
 * a new one, so a sentence about a refund or dispute takes the place of the status.
 */
function workflowVariables({
  title,
  event,
  details,
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
    status: escapeMarkup(details ?? status),
    payment: escapeMarkup(payment),
    time: time === undefined ? '' : timeText(time),
    provider: escapeMarkup(provider),
  }
}
