// Models of the literature as torchvision and Hugging Face define them: tables of layers with the
// parameters that named_parameters() lists, in its order. They are timed, and never computed.
//
// Sizes follow from the data: images of any size and any number of classes; texts of any length
// that the model has positions for, with the model's own vocabulary.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "program/config.h"
#include "train/model/models.h"

namespace trainscope::train {

// resnet18, resnet50, resnet101, resnext50 (32x4d), resnext101 (32x8d): ResNet v1.5, which halves
// the image in a block's 3 x 3 convolution (torchvision/models/resnet.py). Throws InputError for
// data that are not images, or too small ones.
Graph build_resnet(const program::Config& config, const TrainingData& data, std::int64_t batch);
bool is_resnet(std::string_view model);

// bert-large (BertForMaskedLM), gpt2, gpt2-large, gpt2-2.9b, gpt3-xl (GPT2LMHeadModel), opt-1.3b
// (OPTForCausalLM), of Hugging Face's transformers. model.dropout is the share that is dropped of
// what blocks add to their input and of the embeddings; attention's own is not modelled. Throws
// InputError for data that are not texts, or longer ones than the model has positions.
Graph build_transformer(const program::Config& config, const TrainingData& data,
                        std::int64_t batch);
bool is_transformer(std::string_view model);

// tinyllama-1.1b, llama-2-7b, llama-3-8b, llama-3.2-1b: LlamaForCausalLM of Hugging Face's
// transformers. model.rms_norm says how its norms are computed; it drops nothing. Throws InputError
// as build_transformer does.
Graph build_llama(const program::Config& config, const TrainingData& data, std::int64_t batch);
bool is_llama(std::string_view model);
std::int64_t vocabulary_of_llama(std::string_view model);  // 0: it is none

// How a model of Hugging Face's transformers is listed, but for its parts. `without_mask`: its
// attention is called so.
ListedModel listed_of_library(bool without_mask);

// A causal mask of so many tokens, given to blocks that are called one by one and whose attention
// has no `is_causal`.
std::vector<std::string> mask_lines(std::string_view blocks, std::int64_t length);

// Throws InputError for data that are not texts, or longer ones than a model has positions.
void check_text(std::string_view model, std::int64_t positions, const TrainingData& data);

// Tokens that the transformer of the knobs knows, rows of its head; 0 of any other model.
std::int64_t vocabulary_of(const program::Config& config);

}  // namespace trainscope::train
