-- Which trace the attempts of a delivery belong to, as W3C Trace Context writes it: kept, so that retries and a worker that
-- is started again go on with it. Null when nobody traced the request that led to it.
alter table deliveries add column traceparent text;
