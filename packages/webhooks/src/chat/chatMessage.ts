// What a person in a chat is told of an event.
import { currencyExponent } from '@paylog/domain/money'

/** `null` stands for what is not known. Every text may hold what a stranger typed. */
export type ChatNotice = {
  /** The event's name as it stands on the wire: `payment.succeeded`, `stripe:invoice.paid`. */
  readonly event: string
  readonly provider: string
  /** The event's own time, ISO 8601. */
  readonly timestamp: string
  readonly amount_cents: number | null
  /** Upper case. */
  readonly currency: string | null
  /** An e-mail where there is one, else an id. */
  readonly customer: string | null
  readonly status: string | null
  /** By which the payment is looked up: ours, or the provider's id of one that is not. */
  readonly payment_id: string | null
  /** Somebody tries his endpoints out: nothing has happened. */
  readonly is_test: boolean
}

// A notice in words, before a service lays it out.

/** Nothing is in it that is not known. */
export type ChatMessage = {
  /** Letters, digits and single spaces only, but for the colon of `Test: `: no service reads anything else into it. */
  readonly title: string
  readonly tone: 'good' | 'bad' | 'neutral'
  /** Digits, a point and letters only. */
  readonly amount: string | undefined
  /** What a stranger may have typed, on one line. */
  readonly customer: string | undefined
  /** As well. */
  readonly status: string | undefined
  /** The payment's id; as well, since a provider may have given it. */
  readonly payment: string | undefined
  /** In UTC, to the second. */
  readonly time: Date | undefined
  /** As well. */
  readonly provider: string | undefined
  readonly event: string
}

export type ChatField = {
  readonly name: 'Amount' | 'Customer' | 'Status' | 'Payment' | 'Time' | 'Provider'
  /** To be escaped. */
  readonly text: string
}

/**
 * An e-mail address has up to 320 characters. Five texts of this length, each character of them escaped in the longest
 * way, are within the limits of every service.
 */
const maxTextLength = 320
const maxTitleLength = 120

/** Also those that change the direction of what follows, or cannot be seen. */
const controls = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/gu

const badWords = /\b(failed|cancell?ed|declined|denied|deleted|expired|unpaid|voided|suspended)\b/
const goodWords = /\b(succeeded|activated|extended|paid|completed|captured|active)\b/

/** What a notice says, in words. */
export function chatMessage(chatNotice: ChatNotice): ChatMessage {
  const words = titleWords(titledEvent(chatNotice))
  const time = new Date(chatNotice.timestamp)
  return {
    title: `${chatNotice.is_test ? 'Test: ' : ''}${words}`,
    tone: badWords.test(words.toLowerCase()) ? 'bad' : goodWords.test(words.toLowerCase()) ? 'good' : 'neutral',
    amount: chatNotice.amount_cents === null ? undefined : amountText(chatNotice.amount_cents, chatNotice.currency),
    customer: oneLine(chatNotice.customer),
    status: oneLine(chatNotice.status),
    payment: oneLine(chatNotice.payment_id),
    time: Number.isNaN(time.getTime()) ? undefined : time,
    provider: oneLine(chatNotice.provider),
    event: oneLine(chatNotice.event) ?? '',
  }
}

/** What is known, in the order of importance. */
export function chatFields({ amount, customer, status, payment, time, provider }: ChatMessage): readonly ChatField[] {
  const facts = [
    { name: 'Amount', text: amount },
    { name: 'Customer', text: customer },
    { name: 'Status', text: status },
    { name: 'Payment', text: payment },
    { name: 'Time', text: time === undefined ? undefined : timeText(time) },
    { name: 'Provider', text: provider },
  ] as const
  return facts.flatMap(({ name, text }) => (text === undefined ? [] : [{ name, text }]))
}

/** `2026-01-02 03:04:05 UTC` */
export function timeText(time: Date): string {
  return `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

/** There is no canonical name for a payment that was canceled: it comes as one that failed, which it did not. */
function titledEvent({ event, status }: ChatNotice): string {
  return event === 'payment.failed' && status === 'canceled' ? 'payment.canceled' : event
}

/** `stripe:payment_intent.succeeded` as "Payment intent succeeded". */
function titleWords(event: string): string {
  const words = event
    .toWellFormed()
    .replace(/^[a-z-]+:(net\.authorize\.)?/, '')
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .toLowerCase()
  const cut = cutTo(words, maxTitleLength, '').trimEnd()
  // Some letters have marks of their own in the other case.
  const title = `${cut.charAt(0).toUpperCase()}${cut.slice(1)}`.replace(/\p{M}/gu, '')
  return title === '' ? 'Event' : title
}

/** `22.00 USD`; without a currency the provider's account has but one, whose minor unit is a hundredth. */
function amountText(cents: number, currency: string | null): string {
  const code = currency !== null && /^[A-Z]{3}$/.test(currency) ? currency : undefined
  const exponent = code === undefined ? 2 : currencyExponent(code)
  const digits = String(Math.abs(cents)).padStart(exponent + 1, '0')
  const units = exponent === 0 ? digits : `${digits.slice(0, -exponent)}.${digits.slice(-exponent)}`
  return [`${cents < 0 ? '-' : ''}${units}`, ...(code === undefined ? [] : [code])].join(' ')
}

/** One line of text that can be seen, and not too long; nothing when none is left. */
function oneLine(text: string | null): string | undefined {
  const line = (text ?? '').toWellFormed().replaceAll(controls, ' ').replaceAll(/\s+/g, ' ').trim()
  return line === '' ? undefined : cutTo(line, maxTextLength, '…')
}

/** Cut to a length in UTF-16 units, and never within a pair of them. */
function cutTo(text: string, maxLength: number, mark: string): string {
  if (text.length <= maxLength) return text
  const cut = text.slice(0, maxLength - mark.length)
  return `${cut.isWellFormed() ? cut : cut.slice(0, -1)}${mark}`
}
