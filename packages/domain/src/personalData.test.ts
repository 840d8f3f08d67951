// Every text in an event is either sealed or decided to identify nobody: whoever adds a field decides it here.
import t from 'tap'
import type { TSchema } from 'typebox'
import { sealedKeyword } from './personalData.ts'
import { recordedEvents } from './recordedEvents.ts'

/** In every event that has them: ids of ours and of providers, and the names that programs have for things. */
const idsAndCodes = [
  ...['provider_id', 'provider_type', 'generic_type', 'currency', 'project_id', 'user_id', 'payer.id', 'payer.type'],
  ...['requested_by.id', 'requested_by.type', 'object_id', 'customer_id', 'subscription.subscription_id'],
  ...['provider_event_id', 'provider_intent_id', 'provider_payment_id', 'provider_refund_id', 'provider_dispute_id'],
  ...['provider_setup_intent_id', 'provider_customer_id', 'provider_method_id', 'provider_product_id'],
  ...['provider_price_id', 'payment_method_id', 'provider_method.provider_method_id'],
  ...['provider_method.provider_customer_id', 'billing_address_id', 'category_id', 'changes.category_id'],
  ...[
    'reported_intent_id',
    'reported_currency',
    'reported_status',
    'provider_status',
    'failure_code',
    'changes.currency',
  ],
  ...['payment_type', 'card_brand', 'canonical_name', 'plan.canonical_events[]'],
  ...['plan.deliveries[].node', 'plan.deliveries[].event', 'plan.deliveries[].mode'],
]

/** Texts whose name alone does not say that they identify nobody. */
const judged: Readonly<Record<string, readonly string[]>> = {
  // The provider's code, never its message. An administrator's reason is about an action, and says so where it is given.
  reason: ['PaymentDisputeRecorded', 'AdministratorActed'],
  // What the bank prints: the name of the shop.
  statement_descriptor: ['PaymentInitiated'],
  // The provider's status of an object.
  status: ['ProviderEventApplied', 'ProviderEventUnmatched', 'WebhookTestRequested', 'WebhookSimulationRequested'],
  // Of requests that name a provider or describe a product. All others are sealed.
  request_fingerprint: ['SetupIntentCreated', 'ProductAdded'],
  // The catalogue is public.
  name: ['ProductAdded'],
  description: ['ProductAdded'],
  'changes.name': ['ProductChanged'],
  'changes.description': ['ProductChanged'],
  content_hash: ['ProductSyncStarted', 'ProductSynced'],
  price_hash: ['ProductSyncStarted', 'ProductSynced'],
  'kept_fields[]': ['ProductSynced'],
  // Errors about a product, in our words.
  code: ['ProductSyncFailed'],
  message: ['ProductSyncFailed'],
  'response.report.results[].product_id': ['IdempotentRequestEnded'],
  'response.report.results[].provider_product_id': ['IdempotentRequestEnded'],
  'response.report.results[].provider_price_id': ['IdempotentRequestEnded'],
  'response.report.results[].error.message': ['IdempotentRequestEnded'],
  'response.report.results[].kept_fields[]': ['IdempotentRequestEnded'],
  // That a method was declined, in our words.
  'response.message': ['IdempotentRequestEnded'],
  // Hashes of events as they are stored.
  root_hash: ['CheckpointSigned'],
  note: ['CheckpointSigned'],
  // Administrators stay accountable. What they ask for is recorded without e-mails.
  action: ['AdministratorActed'],
  actor: ['AdministratorActed'],
  'target.kind': ['AdministratorActed'],
  'target.id': ['AdministratorActed'],
  details: ['AdministratorActed'],
}

type Schema = TSchema & {
  readonly [sealedKeyword]?: string
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly type?: string
  readonly format?: string
}

const harmlessTypes: ReadonlySet<string | undefined> = new Set(['integer', 'number', 'boolean', 'null'])
const harmlessFormats: ReadonlySet<string | undefined> = new Set(['uuid', 'date', 'date-time'])

/**
 * The paths of what is not sealed and may hold any text.
 * @param isSealable whether the codec looks for sealed fields here: not in the variants of a union, nor in a list
 */
function openTexts(schema: Schema, path = '', isSealable = true): readonly string[] {
  if (isSealable && sealedKeyword in schema) return []
  if ('enum' in schema || 'const' in schema) return []
  if (schema.anyOf) return schema.anyOf.flatMap((variant) => openTexts(variant, path, false))
  if (schema.items) return openTexts(schema.items, `${path}[]`, false)
  if (schema.properties)
    return Object.entries(schema.properties).flatMap(([name, field]) =>
      openTexts(field, path === '' ? name : `${path}.${name}`, isSealable),
    )
  const isHarmless = harmlessTypes.has(schema.type) || (schema.type === 'string' && harmlessFormats.has(schema.format))
  return isHarmless ? [] : [path]
}

const found = Object.entries(recordedEvents).flatMap(([type, schema]) =>
  openTexts(schema).map((path) => ({ type, path })),
)

t.test('every text of an event is sealed, or it is decided that it identifies nobody', async (t) => {
  const undecided = found.filter(
    ({ type, path }) => !idsAndCodes.includes(path) && !(Object.hasOwn(judged, path) && judged[path]?.includes(type)),
  )
  t.same(undecided, [], 'seal it with personalData.ts, or add it to a list above')
})

t.test('every decision about a text is about one that exists and is not sealed', async (t) => {
  const paths = new Set(found.map(({ path }) => path))
  t.same(
    idsAndCodes.filter((path) => !paths.has(path)),
    [],
  )
  const decided = Object.entries(judged).flatMap(([path, types]) => types.map((type) => ({ type, path })))
  const isFound = ({ type, path }: (typeof decided)[number]) =>
    found.some((each) => each.type === type && each.path === path)
  t.same(
    decided.filter((each) => !isFound(each)),
    [],
  )
})
